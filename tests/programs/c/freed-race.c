// An object is freed while another thread may write to it.
// verdict: unsafe
// options: --property no-data-race
#include <pthread.h>
#include <stdlib.h>

struct job { int state, result; };

void *worker(void *argument) {
  struct job *job = argument;
  job->result = 1;
  return 0;
}

int main(void) {
  pthread_t thread;
  struct job *job = malloc(sizeof(struct job));
  job->result = 0;
  pthread_create(&thread, 0, worker, job);
  free(job);
  pthread_join(thread, 0);
  return 0;
}
