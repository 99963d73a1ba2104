// Each thread unlocks what it has locked, waits with the mutex held, and is waited for once.
// options: --property misuse
// verdict: safe
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int done;

void *worker(void *argument) {
  if (pthread_mutex_trylock(&lock) != 0) pthread_mutex_lock(&lock);
  done = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  pthread_mutex_lock(&lock);
  while (!done) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  pthread_join(thread, 0);
  pthread_mutex_destroy(&lock);
  return 0;
}
