// Any number of threads draw identifiers; each is less than the next one to draw.
// verdict: safe
#include <assert.h>
#include <limits.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned next;

void *worker(void *unused) {
  unsigned mine;
  pthread_mutex_lock(&lock);
  if (next == UINT_MAX) {
    pthread_mutex_unlock(&lock);
    return 0;
  }
  mine = next++;
  pthread_mutex_unlock(&lock);
  assert(mine < next);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1)
    pthread_create(&thread, 0, worker, 0);
}
