// Two threads increment a counter without a lock: one increment may be lost.
// verdict: unsafe
#include <assert.h>
#include <pthread.h>

int counter;

void *worker(void *argument) {
  counter++;
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  assert(counter == 2);
  return 0;
}
