// A number grows by two, in two steps, behind a lock.
// verdict: safe
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned number;

void *worker(void *unused) {
  pthread_mutex_lock(&lock);
  assert(number % 2 == 0);
  number++;
  number++;
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1)
    pthread_create(&thread, 0, worker, 0);
}
