// Two counters that any number of threads keep equal under a lock.
// verdict: safe
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned x, y;

void *worker(void *unused) {
  pthread_mutex_lock(&lock);
  assert(x == y);
  x++;
  y++;
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1)
    pthread_create(&thread, 0, worker, 0);
}
