// A thread that holds the lock finds the number that it has read.
// verdict: safe
#include <assert.h>
#include <limits.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned number;

void *worker(void *unused) {
  unsigned mine;
  pthread_mutex_lock(&lock);
  mine = number;
  if (mine < UINT_MAX)
    number = mine + 1;
  assert(mine <= number);
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1)
    pthread_create(&thread, 0, worker, 0);
}
