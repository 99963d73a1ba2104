// A lock-free stack of free nodes in a fixed pool, with versions against the ABA problem.
// verdict: safe
//
// The top of the stack is one word: the number of a node and a version that every change makes another one. A thread that
// was interrupted between its read and its compare-and-swap notices that others were there, even if the same node is on
// top again. stack_broken.c has no version.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { NODES = 2, NONE = 3 };

unsigned char below[NODES] = { 1, NONE }; // for each node on the stack the next one
atomic_uchar top;                         // the node in the lowest two bits, the version above
atomic_bool taken[NODES];                 // nodes that somebody owns

unsigned char pop(void) {
  unsigned char old, node;
  do {
    old = top;
    node = old & 3;
    if (node == NONE)
      return NONE;
  } while (!atomic_compare_exchange_strong(&top, &old, (unsigned char)((old & ~3) + 4 + below[node])));
  return node;
}

void push(unsigned char node) {
  unsigned char old = top;
  do
    below[node] = old & 3;
  while (!atomic_compare_exchange_strong(&top, &old, (unsigned char)((old & ~3) + 4 + node)));
}

unsigned char own(void) {
  unsigned char node = pop();
  if (node != NONE)
    assert(!atomic_exchange(&taken[node], 1)); // nobody else has it
  return node;
}

void *patient(void *unused) {
  own();
  own();
  return 0;
}

void *busy(void *unused) {
  unsigned char a = own();
  own();
  if (a != NONE) {
    taken[a] = 0;
    push(a);
  }
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, patient, 0);
  pthread_create(&two, 0, busy, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
