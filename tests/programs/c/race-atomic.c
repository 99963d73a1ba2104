// A plain read beside an atomic write is a race.
// options: --property no-data-race
// verdict: unsafe
#include <pthread.h>

int flag, seen;

void *setter(void *argument) {
  __atomic_store_n(&flag, 1, __ATOMIC_SEQ_CST);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, setter, 0);
  seen = flag;
  pthread_join(thread, 0);
  return 0;
}
