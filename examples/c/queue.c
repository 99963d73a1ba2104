// A bounded queue: a producer and two consumers share a ring of two slots and wait on condition variables.
// verdict: safe
//
// Whoever wakes up looks again whether there is something to do: another thread may have been faster, and a thread may
// wake up without a signal. queue_broken.c looks only once.
#include <assert.h>
#include <pthread.h>

enum { SLOTS = 2, ITEMS = 2 };

int ring[SLOTS];
unsigned first, count; // the oldest item, and how many there are
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;

void put(int item) {
  pthread_mutex_lock(&lock);
  while (count == SLOTS)
    pthread_cond_wait(&not_full, &lock);
  ring[(first + count) % SLOTS] = item;
  count++;
  pthread_cond_signal(&not_empty);
  pthread_mutex_unlock(&lock);
}

int take(void) {
  pthread_mutex_lock(&lock);
  while (count == 0)
    pthread_cond_wait(&not_empty, &lock);
  assert(count > 0);
  int item = ring[first];
  first = (first + 1) % SLOTS;
  count--;
  pthread_cond_signal(&not_full);
  pthread_mutex_unlock(&lock);
  return item;
}

void *producer(void *unused) {
  for (int i = 1; i <= ITEMS; i++)
    put(i);
  return 0;
}

void *consumer(void *unused) {
  int item = take();
  assert(item == 1 || item == 2);
  return 0;
}

int main(void) {
  pthread_t threads[3];
  pthread_create(&threads[0], 0, producer, 0);
  pthread_create(&threads[1], 0, consumer, 0);
  pthread_create(&threads[2], 0, consumer, 0);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], 0);
  return 0;
}
