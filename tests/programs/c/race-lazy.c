// The right side of `&&` is not evaluated before the writer is done: `ready` is atomic, `data` is not.
// options: --property no-data-race
// verdict: safe
#include <pthread.h>
#include <stdatomic.h>

atomic_int ready;
int data, seen;

void *writer(void *argument) {
  data = 42;
  ready = 1;
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, writer, 0);
  if (ready && data == 42) seen = 1;
  pthread_join(thread, 0);
  return 0;
}
