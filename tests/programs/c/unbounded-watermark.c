// Any number of threads widen an interval by their inputs; its ends never cross.
// verdict: safe
#include <assert.h>
#include <limits.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned low, high;

void *worker(void *unused) {
  unsigned mine = __VERIFIER_nondet_uint();
  pthread_mutex_lock(&lock);
  if (mine < low)
    low = mine;
  if (mine > high)
    high = mine;
  assert(low <= high);
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1)
    pthread_create(&thread, 0, worker, 0);
}
