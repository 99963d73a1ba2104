// verdict: safe
// Each thread begins with the initial values of its own objects, whatever its creator has done with its own.
#include <assert.h>
#include <pthread.h>

_Thread_local int mine = 5;
static __thread int calls[2];

void *worker(void *argument) {
  assert(mine == 5 && calls[1] == 0);
  mine++;
  calls[1]++;
  assert(mine == 6 && calls[1] == 1);
  return 0;
}

int main(void) {
  pthread_t one, other;
  mine = 7;
  calls[1] = 3;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&other, 0, worker, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  assert(mine == 7 && calls[1] == 3);
  return 0;
}
