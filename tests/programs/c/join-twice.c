// A thread is waited for twice.
// options: --property misuse
// verdict: unsafe
#include <pthread.h>

void *worker(void *argument) { return argument; }

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  pthread_join(thread, 0);
  pthread_join(thread, 0);
  return 0;
}
