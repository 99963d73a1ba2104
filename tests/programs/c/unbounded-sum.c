// Threads add to one of two numbers and to their total.
// verdict: safe
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned first, second, total;

void *worker(void *unused) {
  unsigned amount = __VERIFIER_nondet_uint();
  pthread_mutex_lock(&lock);
  if (amount > 100)
    first += amount;
  else
    second += amount;
  total += amount;
  assert(first + second == total);
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1)
    pthread_create(&thread, 0, worker, 0);
}
