// A thread gets the address of the object that it increments.
// verdict: safe
#include <assert.h>
#include <pthread.h>

struct job { int value; pthread_mutex_t lock; };
struct job first, second;

void *worker(void *argument) {
  struct job *job = argument;
  pthread_mutex_lock(&job->lock);
  job->value += 1;
  pthread_mutex_unlock(&job->lock);
  return argument;
}

int main(void) {
  pthread_t one, two;
  void *result;
  pthread_create(&one, 0, worker, &first);
  pthread_create(&two, 0, worker, &second);
  pthread_join(one, &result);
  assert(result == &first);
  assert(((struct job *)result)->value == 1);
  pthread_join(two, 0);
  assert(first.value + second.value == 2);
  return 0;
}
