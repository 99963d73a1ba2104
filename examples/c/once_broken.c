// Double-checked initialisation that publishes too early.
// verdict: unsafe
//
// `ready` is set before the settings are complete. A second client takes the fast path and reads the limit while the
// first one is still about to write it. once.c has the right order.
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
      ready = 1; // too early
      settings.limit = 16;
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
