// A lock by exchange: what a thread writes, it reads again before the next one writes.
// verdict: safe
#include <assert.h>
#include <limits.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
_Bool taken;
unsigned number;

void *worker(void *unused) {
  unsigned mine = __VERIFIER_nondet_uint();
  while (__sync_lock_test_and_set(&taken, 1))
    ;
  number = mine;
  assert(number == mine);
  __sync_lock_release(&taken);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1)
    pthread_create(&thread, 0, worker, 0);
}
