// verdict: safe
// A thread may end inside of a function that it calls; its result is delivered.
#include <assert.h>
#include <pthread.h>

int after;
static int target;

static void finish(int early) {
  if (early) pthread_exit(&target);
  after++;
}

void *worker(void *argument) {
  finish(argument != 0);
  return 0;
}

int main(void) {
  pthread_t one, other;
  void *result;
  pthread_create(&one, 0, worker, &target);
  pthread_create(&other, 0, worker, 0);
  pthread_join(one, &result);
  assert(result == &target);
  pthread_join(other, &result);
  assert(result == 0 && after == 1);
  return 0;
}
