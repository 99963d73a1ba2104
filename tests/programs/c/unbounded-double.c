// One number stays the double of another one.
// verdict: safe
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned single, twice;

void *worker(void *unused) {
  unsigned amount = __VERIFIER_nondet_uint();
  pthread_mutex_lock(&lock);
  single += amount;
  twice += amount;
  twice += amount;
  assert(twice == 2 * single);
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1)
    pthread_create(&thread, 0, worker, 0);
}
