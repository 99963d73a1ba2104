// verdict: safe
// The function runs once, and nobody goes on before it is done.
#include <assert.h>
#include <pthread.h>

pthread_once_t once = PTHREAD_ONCE_INIT;
int ready, runs;

static void prepare(void) {
  runs++;
  ready = 1;
}

void *worker(void *argument) {
  pthread_once(&once, prepare);
  assert(ready && runs == 1);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  worker(0);
  return 0;
}
