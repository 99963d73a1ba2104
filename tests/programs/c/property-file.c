// The property file asks about races; the assertion, which fails, is not asked about.
// options: --property properties/no-data-race.prp
// verdict: safe
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x;

void *worker(void *argument) {
  x = 1;
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  assert(x == 0);
  return 0;
}
