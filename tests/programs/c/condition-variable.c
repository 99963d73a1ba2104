// A consumer waits until the producer has set the flag.
// verdict: safe
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready, value;

void *producer(void *argument) {
  pthread_mutex_lock(&lock);
  value = 42;
  ready = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, producer, 0);
  pthread_mutex_lock(&lock);
  while (!ready)
    pthread_cond_wait(&changed, &lock);
  assert(value == 42);
  pthread_mutex_unlock(&lock);
}
