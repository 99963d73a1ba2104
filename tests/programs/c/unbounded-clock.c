// Any number of threads advance a clock under a lock; it does not go back while one holds the lock.
// verdict: safe
#include <assert.h>
#include <limits.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned now;

void *worker(void *unused) {
  unsigned before, step = __VERIFIER_nondet_uint();
  pthread_mutex_lock(&lock);
  before = now;
  if (step <= UINT_MAX - now)
    now += step;
  assert(before <= now);
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1)
    pthread_create(&thread, 0, worker, 0);
}
