// The memory order of an atomic operation is an argument with an effect, which is not atomic.
// options: --property no-data-race
// verdict: unsafe
#include <pthread.h>

int x, order = 4;

void *writer(void *argument) {
  __atomic_store_n(&x, 1, ++order);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, writer, 0);
  return __atomic_load_n(&order, __ATOMIC_SEQ_CST);
}
