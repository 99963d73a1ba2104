// verdict: safe
// A recursive mutex is held until it is released as often as it was taken; an error-checking one says what is wrong.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock, checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
int data;

void *worker(void *argument) {
  pthread_mutex_lock(&lock);
  data++;
  pthread_mutex_unlock(&lock);
  assert(pthread_mutex_unlock(&checking) != 0);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&lock, &attributes);
  pthread_create(&thread, 0, worker, 0);
  pthread_mutex_lock(&lock);
  assert(pthread_mutex_lock(&lock) == 0 && pthread_mutex_trylock(&lock) == 0);
  int seen = data;
  pthread_mutex_unlock(&lock);
  pthread_mutex_unlock(&lock);
  assert(data == seen);
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&checking);
  assert(pthread_mutex_lock(&checking) != 0);
  assert(pthread_mutex_unlock(&checking) == 0);
  return 0;
}
