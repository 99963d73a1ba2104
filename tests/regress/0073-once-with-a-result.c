// `pthread_once` calls a function whose result is dropped.
// verdict: unsafe
#include <assert.h>
#include <pthread.h>

pthread_once_t once = PTHREAD_ONCE_INIT;
int calls;

int start(void);

int main(void) {
  pthread_once(&once, (void (*)(void))start);
  pthread_once(&once, (void (*)(void))start);
  assert(calls != 1);
  return 0;
}

int start(void) { return ++calls; }
