// A sequence lock: whoever reads between two equal even numbers reads numbers that belong together.
// verdict: safe
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

extern unsigned __VERIFIER_nondet_uint(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned first, second;

void *writer(void *unused) {
  unsigned value = __VERIFIER_nondet_uint();
  pthread_mutex_lock(&lock);
  first = value;
  second = first + 7;
  pthread_mutex_unlock(&lock);
  return 0;
}

void *reader(void *unused) {
  unsigned one, other;
  pthread_mutex_lock(&lock);
  one = first;
  other = second;
  pthread_mutex_unlock(&lock);
  assert(other == one + 7);
  return 0;
}

int main(void) {
  pthread_t thread;
  second = 7;
  while (1) {
    pthread_create(&thread, 0, writer, 0);
    pthread_create(&thread, 0, reader, 0);
  }
}
