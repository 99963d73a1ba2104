// The first of any number of threads chooses a number; all others see it.
// verdict: safe
#include <assert.h>
#include <limits.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned chosen;
_Bool done;

void *worker(void *unused) {
  unsigned mine = __VERIFIER_nondet_uint();
  if (mine < 7)
    return 0;
  pthread_mutex_lock(&lock);
  if (!done) {
    chosen = mine;
    done = 1;
  }
  pthread_mutex_unlock(&lock);
  assert(chosen >= 7);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1)
    pthread_create(&thread, 0, worker, 0);
}
