// An object is freed with its last reference; any number of threads take and drop one while there are some.
// options: --engine facts
// verdict: safe
#include <assert.h>
#include <limits.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned references = 1;
_Bool freed;

void *worker(void *unused) {
  pthread_mutex_lock(&lock);
  if (references == 0 || references == UINT_MAX) {
    pthread_mutex_unlock(&lock);
    return 0;
  }
  references++;
  assert(!freed);
  references--;
  if (references == 0)
    freed = 1;
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1)
    pthread_create(&thread, 0, worker, 0);
}
