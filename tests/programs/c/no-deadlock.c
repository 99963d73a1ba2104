// The same order in both threads. Neither the end of the program, nor assumptions, nor indices look like deadlocks.
// options: --deadlock
// verdict: safe
#include <assert.h>
#include <pthread.h>
extern unsigned char nondet_uchar(void);
extern void __VERIFIER_assume(int);

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
int cells[2];

void *worker(void *argument) {
  pthread_mutex_lock(&a);
  pthread_mutex_lock(&b);
  pthread_mutex_unlock(&b);
  pthread_mutex_unlock(&a);
  return 0;
}

int main(void) {
  pthread_t thread;
  unsigned char i = nondet_uchar();
  __VERIFIER_assume(i < 4);
  cells[i] = 1;
  assert(i != 1);
  pthread_create(&thread, 0, worker, 0);
  pthread_mutex_lock(&a);
  pthread_mutex_lock(&b);
  pthread_mutex_unlock(&b);
  pthread_mutex_unlock(&a);
  if (i == 0) pthread_join(thread, 0);
  return 0;
}
