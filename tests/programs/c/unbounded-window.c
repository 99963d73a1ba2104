// A window moves over all numbers, and keeps its width.
// verdict: safe
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned begin, end = 16;

void *worker(void *unused) {
  unsigned by = __VERIFIER_nondet_uint();
  pthread_mutex_lock(&lock);
  begin += by;
  end = begin + 16;
  pthread_mutex_unlock(&lock);
  return 0;
}

void *reader(void *unused) {
  pthread_mutex_lock(&lock);
  assert(end - begin == 16);
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1) {
    pthread_create(&thread, 0, worker, 0);
    pthread_create(&thread, 0, reader, 0);
  }
}
