// verdict: safe
// Threads deliver results in memory that they allocate, also of different types through one `void *`.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct answer { int low; char high; };

void *number(void *argument) {
  int *result = malloc(sizeof *result);
  *result = 3;
  return result;
}

void *record(void *argument) {
  struct answer *result = malloc(sizeof *result);
  result->low = 4;
  result->high = 5;
  return result;
}

int main(void) {
  pthread_t one, other;
  void *first, *second;
  pthread_create(&one, 0, number, 0);
  pthread_create(&other, 0, record, 0);
  pthread_join(one, &first);
  pthread_join(other, &second);
  struct answer *answer = second;
  assert(*(int *)first == 3 && answer->low == 4 && answer->high == 5);
  free(first);
  return 0;
}
