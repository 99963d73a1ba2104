// Mutexes that check errors tell so, and then nothing is misused.
// verdict: safe
// options: --property misuse,assertions
#include <assert.h>
#include <errno.h>
#include <pthread.h>

pthread_mutex_t checking, recursive;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

int main(void) {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&checking, &kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&recursive, &kind);
  assert(pthread_mutex_unlock(&checking) == EPERM);
  assert(pthread_mutex_unlock(&recursive) == EPERM);
  assert(pthread_cond_wait(&changed, &checking) == EPERM);
  assert(pthread_mutex_lock(&checking) == 0);
  assert(pthread_mutex_lock(&checking) == EDEADLK);
  assert(pthread_mutex_trylock(&checking) == EBUSY);
  assert(pthread_cond_wait(&changed, &checking) == 0);
  assert(pthread_mutex_unlock(&checking) == 0);
  assert(pthread_mutex_unlock(&checking) == EPERM);
  return 0;
}
