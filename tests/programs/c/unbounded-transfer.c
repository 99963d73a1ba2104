// Threads move amounts between two accounts.
// verdict: safe
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned here = 1000, there;

void *worker(void *unused) {
  unsigned amount = __VERIFIER_nondet_uint();
  pthread_mutex_lock(&lock);
  if (amount <= here) {
    here -= amount;
    there += amount;
  }
  assert(here + there == 1000);
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1)
    pthread_create(&thread, 0, worker, 0);
}
