// Any number of threads keep the greatest of their inputs; it is no less than the input of any thread that is done.
// verdict: safe
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int maximum;

void *worker(void *unused) {
  int mine = __VERIFIER_nondet_int();
  pthread_mutex_lock(&lock);
  if (maximum < mine)
    maximum = mine;
  pthread_mutex_unlock(&lock);
  assert(mine <= maximum);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1)
    pthread_create(&thread, 0, worker, 0);
}
