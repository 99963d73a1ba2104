// A checksum of two numbers.
// verdict: safe
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned low, high, check;

void *writer(void *unused) {
  unsigned value = __VERIFIER_nondet_uint();
  pthread_mutex_lock(&lock);
  low = value;
  check = low ^ high;
  pthread_mutex_unlock(&lock);
  return 0;
}

void *mover(void *unused) {
  pthread_mutex_lock(&lock);
  high = low;
  check = 0;
  pthread_mutex_unlock(&lock);
  return 0;
}

void *reader(void *unused) {
  pthread_mutex_lock(&lock);
  assert(check == (low ^ high));
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1) {
    pthread_create(&thread, 0, writer, 0);
    pthread_create(&thread, 0, mover, 0);
    pthread_create(&thread, 0, reader, 0);
  }
}
