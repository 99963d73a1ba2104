// Accesses in atomic sections do not race with each other, but a plain one does with them.
// options: --property no-data-race
// verdict: unsafe
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int inside, outside;

void *worker(void *argument) {
  __VERIFIER_atomic_begin();
  inside++;
  outside++;
  __VERIFIER_atomic_end();
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  __VERIFIER_atomic_begin();
  inside++;
  __VERIFIER_atomic_end();
  return outside;
}
