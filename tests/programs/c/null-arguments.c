// verdict: unsafe
// Null pointers in variables stand for no attributes and for no place for a result.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock;
int data;

void *worker(void *argument) {
  pthread_mutex_lock(&lock);
  data++;
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  const pthread_mutexattr_t *attributes = 0;
  void **result = 0;
  pthread_mutex_init(&lock, attributes);
  pthread_create(&thread, 0, worker, 0);
  pthread_join(thread, result);
  assert(data == 0);
  return 0;
}
