// An atomic counter loses nothing; `x++` on it is one step.
// verdict: safe
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int counter;

void *worker(void *argument) {
  counter++;
  atomic_fetch_add(&counter, 2);
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  assert(counter == 6);
}
