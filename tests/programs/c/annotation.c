// Annotations are assertions; they read one state, so that the sum cannot change in between.
// verdict: safe
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int x, y = 3;

void *worker(void *argument) {
  __VERIFIER_atomic_begin();
  x++;
  y--;
  __VERIFIER_atomic_end();
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  //@ assert x + y == 3;
  /*@ assert x == 0 ==> y == 3;
    @ assert (x == 1) <==> (y == 2); */
  if (x == 0)
    //@ assert \true;
    y = y;
  return 0;
}
