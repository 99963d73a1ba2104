// A waiting thread may wake up without a signal: `if` is not enough.
// verdict: unsafe
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready;

int main(void) {
  pthread_mutex_lock(&lock);
  if (!ready)
    pthread_cond_wait(&changed, &lock);
  assert(ready);
  pthread_mutex_unlock(&lock);
}
