// A sum of two wide shared numbers, of which one is read without care. The relation of the step that adds them is large
// in decision diagrams: a search for an execution with fewer threads must notice that.
// verdict: unsafe
// options: --property no-data-race
#include <pthread.h>

int total, part;

void *adds(void *unused) {
  __atomic_fetch_add(&total, part, 5);
  return 0;
}

void *sets(void *unused) {
  __atomic_store_n(&part, 1, 5);
  return 0;
}

int main(void) {
  pthread_t one, other;
  pthread_create(&one, 0, adds, 0);
  pthread_create(&other, 0, sets, 0);
  return 0;
}
