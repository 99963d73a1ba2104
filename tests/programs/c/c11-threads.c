// verdict: safe
// Threads, mutexes, conditions, keys and flags of C11.
#include <assert.h>
#include <threads.h>

mtx_t lock;
cnd_t full;
tss_t key;
once_flag flag = ONCE_FLAG_INIT;
int item, prepared;
static int here, there;

static void prepare(void) { prepared++; }

static int worker(void *argument) {
  call_once(&flag, prepare);
  tss_set(key, &there);
  mtx_lock(&lock);
  item = 42;
  cnd_signal(&full);
  mtx_unlock(&lock);
  assert(tss_get(key) == &there);
  thrd_exit(7);
}

int main(void) {
  thrd_t thread;
  int result;
  mtx_init(&lock, mtx_plain);
  cnd_init(&full);
  tss_create(&key, 0);
  assert(tss_get(key) == 0);
  tss_set(key, &here);
  call_once(&flag, prepare);
  thrd_create(&thread, worker, 0);
  assert(!thrd_equal(thread, thrd_current()));
  mtx_lock(&lock);
  while (!item) cnd_wait(&full, &lock);
  mtx_unlock(&lock);
  thrd_join(thread, &result);
  assert(result == 7 && item == 42 && prepared == 1 && tss_get(key) == &here);
  return 0;
}
