// Only one thread wins a compare-and-exchange.
// verdict: safe
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int owner;
int winners;

void *worker(void *argument) {
  int free = 0;
  if (atomic_compare_exchange_strong(&owner, &free, 1)) {
    winners++;
    assert(winners == 1);
  } else {
    assert(free == 1);
  }
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
}
