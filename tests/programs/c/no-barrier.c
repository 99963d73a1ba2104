// verdict: unsafe
// A barrier for one thread only holds nobody up.
#include <assert.h>
#include <pthread.h>

pthread_barrier_t barrier;
int arrived;

void *worker(void *argument) {
  __atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
  pthread_barrier_wait(&barrier);
  assert(arrived == 2);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_barrier_init(&barrier, 0, 1);
  pthread_create(&thread, 0, worker, 0);
  worker(0);
  return 0;
}
