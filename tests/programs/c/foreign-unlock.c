// A mutex of C11 is unlocked by a thread that does not hold it.
// verdict: unsafe
// options: --property misuse
#include <threads.h>

mtx_t lock;

int worker(void *argument) {
  mtx_unlock(&lock);
  return 0;
}

int main(void) {
  thrd_t thread;
  mtx_init(&lock, mtx_plain);
  mtx_lock(&lock);
  thrd_create(&thread, worker, 0);
  thrd_join(thread, 0);
  mtx_unlock(&lock);
  return 0;
}
