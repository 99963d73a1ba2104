// Neighbouring bit-fields are one memory location: two threads that write them race.
// verdict: unsafe
// options: --property no-data-race
#include <pthread.h>

struct {
  int first : 3;
  int second : 3;
} both;

void *worker(void *argument) {
  both.first = 1;
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  both.second = 1;
  pthread_join(thread, 0);
  return 0;
}
