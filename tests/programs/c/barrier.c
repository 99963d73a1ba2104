// verdict: safe
// No thread is in its second phase while another one is in its first; one of them gets the special result.
#include <assert.h>
#include <pthread.h>

pthread_barrier_t barrier;
int arrived, special;

void *worker(void *argument) {
  __atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
  if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) special++;
  assert(arrived == 2);
  pthread_barrier_wait(&barrier);
  assert(special == 1);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_barrier_init(&barrier, 0, 2);
  pthread_create(&thread, 0, worker, 0);
  worker(0);
  return 0;
}
