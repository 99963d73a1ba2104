// The same as sections.c, but the reader reads the two variables one after the other.
// verdict: unsafe
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void reach_error(void);
#include <pthread.h>

int x, y;

void *worker(void *argument) {
  __VERIFIER_atomic_begin();
  x = x + 1;
  y = y + 1;
  __VERIFIER_atomic_end();
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  if (x != y)
    reach_error();
  return 0;
}
