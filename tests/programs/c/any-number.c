// Any number of threads take a lock; the assertion inside of the section holds.
// verdict: safe
#include <assert.h>
#include <pthread.h>

int inside;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *worker(void *argument) {
  pthread_mutex_lock(&lock);
  assert(inside == 0);
  inside = 1;
  inside = 0;
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1)
    pthread_create(&thread, 0, worker, 0);
}
