// Two threads write through pointers to the same object.
// options: --property no-data-race
// verdict: unsafe
#include <pthread.h>

int one, two;

void *worker(void *argument) {
  int *target = argument;
  *target = 1;
  return 0;
}

int main(void) {
  pthread_t first, second, third;
  pthread_create(&first, 0, worker, &one);
  pthread_create(&second, 0, worker, &two);
  pthread_create(&third, 0, worker, &two);
  return 0;
}
