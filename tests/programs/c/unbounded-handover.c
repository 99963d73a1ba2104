// A slot that any number of producers fill with numbers greater than 10 and any number of consumers empty.
// verdict: safe
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
_Bool full;
int slot;

void *producer(void *unused) {
  int made = __VERIFIER_nondet_int();
  if (made <= 10)
    return 0;
  pthread_mutex_lock(&lock);
  if (!full) {
    slot = made;
    full = 1;
  }
  pthread_mutex_unlock(&lock);
  return 0;
}

void *consumer(void *unused) {
  pthread_mutex_lock(&lock);
  if (full) {
    assert(slot > 10);
    full = 0;
  }
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1) {
    pthread_create(&thread, 0, producer, 0);
    pthread_create(&thread, 0, consumer, 0);
  }
}
