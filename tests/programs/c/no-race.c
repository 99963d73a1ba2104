// All accesses are before the thread starts, under the lock, or behind the join; the elements and members are apart.
// options: --property no-data-race
// verdict: safe
#include <pthread.h>

struct pair {
  int first, second;
} pair;
int total, before, elements[2];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *worker(void *argument) {
  pthread_mutex_lock(&lock);
  total += before;
  pthread_mutex_unlock(&lock);
  pair.first = 1;
  elements[0] = 1;
  return 0;
}

int main(void) {
  pthread_t thread;
  before = 3;
  pthread_create(&thread, 0, worker, 0);
  pthread_mutex_lock(&lock);
  total += before;
  pthread_mutex_unlock(&lock);
  pair.second = 2;
  elements[1] = 2;
  pthread_join(thread, 0);
  total = total + pair.first + elements[0];
  return 0;
}
