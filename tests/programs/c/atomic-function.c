// A function whose calls are atomic, as its name says.
// verdict: safe
#include <assert.h>
#include <pthread.h>

int x, y;

void __VERIFIER_atomic_step(void) {
  x++;
  y++;
}

void __VERIFIER_atomic_look(void) {
  assert(x == y);
}

void *worker(void *argument) {
  __VERIFIER_atomic_step();
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  __VERIFIER_atomic_look();
}
