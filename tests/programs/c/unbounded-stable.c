// What any number of threads read twice under a lock does not change in between.
// verdict: safe
#include <assert.h>
#include <limits.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned number;

void *worker(void *unused) {
  unsigned first, second;
  pthread_mutex_lock(&lock);
  first = number;
  second = number;
  assert(first == second);
  number = __VERIFIER_nondet_uint();
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1)
    pthread_create(&thread, 0, worker, 0);
}
