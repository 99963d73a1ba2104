// `scanf` writes to the object that it reads a number for.
// verdict: unsafe
// options: --property no-data-race
#include <pthread.h>
#include <stdio.h>

int x;

void *worker(void *argument) {
  x = 3;
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  scanf("%d", &x);
  pthread_join(thread, 0);
  return 0;
}
