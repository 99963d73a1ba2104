// A thread unlocks the mutex that the other one holds.
// options: --property misuse
// verdict: unsafe
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *worker(void *argument) {
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_mutex_lock(&lock);
  pthread_create(&thread, 0, worker, 0);
  pthread_join(thread, 0);
  pthread_mutex_unlock(&lock);
  return 0;
}
