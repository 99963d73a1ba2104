// Any number of threads spend amounts of a budget that any input says; it never grows.
// verdict: safe
#include <assert.h>
#include <limits.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned budget;

void *worker(void *unused) {
  unsigned before, amount = __VERIFIER_nondet_uint();
  pthread_mutex_lock(&lock);
  before = budget;
  if (amount <= budget)
    budget -= amount;
  assert(budget <= before);
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1)
    pthread_create(&thread, 0, worker, 0);
}
