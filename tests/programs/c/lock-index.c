// An index leaves an array of locks.
// verdict: unsafe
// options: --property memory
#include <pthread.h>

extern int nondet_int(void);
pthread_mutex_t locks[2];

int main(void) {
  int i = nondet_int();
  if (i >= 0 && i <= 2)
    pthread_mutex_lock(&locks[i]);
  return 0;
}
