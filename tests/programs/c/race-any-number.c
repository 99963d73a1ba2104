// Any number of threads use the object under a lock.
// options: --property no-data-race
// verdict: safe
#include <pthread.h>

int total;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *worker(void *argument) {
  pthread_mutex_lock(&lock);
  total = 1 - total;
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1) pthread_create(&thread, 0, worker, 0);
}
