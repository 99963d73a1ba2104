// Double-checked initialisation: whoever comes first makes the settings, and later callers skip the lock.
// verdict: safe
//
// `ready` is set last, when the settings are complete. It is atomic because it is read without the lock; the fast path
// relies on what was written before it. once_broken.c sets it too early.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct settings { int port, limit; } settings;
atomic_bool ready;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct settings *get_settings(void) {
  if (!ready) { // the first check, without the lock
    pthread_mutex_lock(&lock);
    if (!ready) { // the second check: somebody else may have been faster
      settings.port = 8080;
      settings.limit = 16;
      ready = 1;
    }
    pthread_mutex_unlock(&lock);
  }
  return &settings;
}

void *client(void *unused) {
  struct settings *mine = get_settings();
  assert(mine->port == 8080 && mine->limit == 16);
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, client, 0);
  pthread_create(&two, 0, client, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
