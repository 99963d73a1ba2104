// Peterson's algorithm on a sequentially consistent machine.
// verdict: safe
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_bool wants0, wants1;
atomic_int turn;
int inside;

void *first(void *argument) {
  wants0 = 1;
  turn = 1;
  while (wants1 && turn == 1) {
  }
  inside = 1;
  assert(inside == 1);
  wants0 = 0;
  return 0;
}

void *second(void *argument) {
  wants1 = 1;
  turn = 0;
  while (wants0 && turn == 0) {
  }
  inside = 2;
  assert(inside == 2);
  wants1 = 0;
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, first, 0);
  pthread_create(&two, 0, second, 0);
}
