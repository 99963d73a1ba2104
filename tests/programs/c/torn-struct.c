// verdict: unsafe
// A struct is not copied in one step: another thread sees one half of the old value and one of the new value.
#include <assert.h>
#include <pthread.h>

struct pair { int low, high; } shared;

void *writer(void *argument) {
  struct pair next = { 1, 1 };
  shared = next;
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, writer, 0);
  struct pair seen = shared;
  assert(seen.low == seen.high);
  return 0;
}
