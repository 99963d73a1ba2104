// Each thread has its own copy.
// verdict: safe
#include <assert.h>
#include <pthread.h>

_Thread_local int mine = 1;

void *worker(void *argument) {
  mine++;
  assert(mine == 2);
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  assert(mine == 1);
}
