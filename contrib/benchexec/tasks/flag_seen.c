#include <pthread.h>
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
_Atomic int data, ready;
void *writer(void *unused) { data = 7; ready = 1; return 0; }
int main(void) {
  pthread_t w;
  pthread_create(&w, 0, writer, 0);
  if (ready == 1 && data != 7) reach_error();
  return 0;
}
