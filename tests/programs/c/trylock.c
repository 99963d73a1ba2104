// A lock that is held by another thread: the attempt may fail.
// verdict: unsafe
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *worker(void *argument) {
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  assert(pthread_mutex_trylock(&lock) == 0);
}
