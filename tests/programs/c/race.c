// One thread writes under the lock, the other one reads without it.
// options: --property no-data-race
// verdict: unsafe
#include <pthread.h>

int shared, seen;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *writer(void *argument) {
  pthread_mutex_lock(&lock);
  shared = 1;
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  shared = 0;
  pthread_create(&thread, 0, writer, 0);
  seen = shared;
  pthread_join(thread, 0);
  return seen;
}
