// verdict: unsafe
// A thread is told from another one by its number.
#include <assert.h>
#include <pthread.h>

pthread_t first;

void *worker(void *argument) {
  assert(!pthread_equal(pthread_self(), first));
  return 0;
}

int main(void) {
  pthread_t other;
  pthread_create(&first, 0, worker, 0);
  pthread_create(&other, 0, worker, 0);
  assert(!pthread_equal(first, other) && !pthread_equal(first, pthread_self()));
  return 0;
}
