// verdict: unsafe
// The creator changes what it has handed to the thread.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct job { int number, copies; };

void *worker(void *argument) {
  struct job *job = argument;
  assert(job->number == job->copies);
  return 0;
}

int main(void) {
  pthread_t thread;
  struct job *job = malloc(sizeof(struct job));
  job->number = job->copies = 1;
  pthread_create(&thread, 0, worker, job);
  job->number = 2;
  return 0;
}
