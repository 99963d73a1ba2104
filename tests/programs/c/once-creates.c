// The function of pthread_once creates a thread: main is not alone behind it.
// verdict: unsafe
// options: --property no-data-race
#include <pthread.h>

int x;
pthread_once_t once = PTHREAD_ONCE_INIT;
pthread_t thread;

void *worker(void *argument) {
  x = 1;
  return 0;
}

void start(void) { pthread_create(&thread, 0, worker, 0); }

int main(void) {
  pthread_once(&once, start);
  x = 2;
  return 0;
}
