// Threads in an array of handles, each with its own element.
// verdict: safe
#include <assert.h>
#include <pthread.h>
#define N 2

int slots[N];
pthread_t threads[N];

void *worker(void *argument) {
  long number = (long)argument;
  slots[number] = 1;
  return 0;
}

int main(void) {
  for (int i = 0; i < N; i++)
    pthread_create(&threads[i], 0, worker, (void *)(long)i);
  for (int i = 0; i < N; i++)
    pthread_join(threads[i], 0);
  int sum = 0;
  for (int i = 0; i < N; i++)
    sum += slots[i];
  assert(sum == N);
  return 0;
}
