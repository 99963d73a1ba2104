#include <pthread.h>
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
int x, y, a, b;
void *left(void *unused) { x = 1; a = y; return 0; }
void *right(void *unused) { y = 1; b = x; return 0; }
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, left, 0);
  pthread_create(&two, 0, right, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  if (a == 0 && b == 0) reach_error();
  return 0;
}
