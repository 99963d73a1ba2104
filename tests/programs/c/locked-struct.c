// verdict: safe
// A struct that is copied under a lock is seen as a whole.
#include <assert.h>
#include <pthread.h>

struct pair { int low, high; } shared;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *writer(void *argument) {
  struct pair next = { 1, 1 };
  pthread_mutex_lock(&lock);
  shared = next;
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, writer, 0);
  pthread_mutex_lock(&lock);
  struct pair seen = shared;
  pthread_mutex_unlock(&lock);
  assert(seen.low == seen.high);
  return 0;
}
