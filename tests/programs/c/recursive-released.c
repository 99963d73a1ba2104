// verdict: unsafe
// After the last release of a recursive mutex another thread may come in between.
#include <assert.h>
#include <threads.h>

mtx_t lock;
int data;

int worker(void *argument) {
  mtx_lock(&lock);
  data++;
  mtx_unlock(&lock);
  return 0;
}

int main(void) {
  thrd_t thread;
  mtx_init(&lock, mtx_plain | mtx_recursive);
  thrd_create(&thread, worker, 0);
  mtx_lock(&lock);
  mtx_lock(&lock);
  int seen = data;
  mtx_unlock(&lock);
  mtx_unlock(&lock);
  mtx_lock(&lock);
  assert(data == seen);
  return 0;
}
