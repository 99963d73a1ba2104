// A recursive mutex is unlocked as often as it was locked.
// verdict: safe
// options: --property misuse
#define _GNU_SOURCE
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
int data;

void *worker(void *argument) {
  pthread_mutex_lock(&lock);
  pthread_mutex_lock(&lock);
  data++;
  pthread_mutex_unlock(&lock);
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  worker(0);
  pthread_join(thread, 0);
  pthread_mutex_destroy(&lock);
  return 0;
}
