// A lock-free stack of free nodes in a fixed pool, with the ABA problem.
// verdict: unsafe
//
// The patient thread reads that node 0 is on top and node 1 below it, and is interrupted. The busy thread takes both and
// returns node 0. Now node 0 is on top again: the patient one's compare-and-swap succeeds and puts node 1 on top, which
// the busy thread still owns. stack.c has a version beside the node.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { NODES = 2, NONE = 3 };

unsigned char below[NODES] = { 1, NONE }; // for each node on the stack the next one
atomic_uchar top;                         // the node on top
atomic_bool taken[NODES];                 // nodes that somebody owns

unsigned char pop(void) {
  unsigned char old, node;
  do {
    old = top;
    node = old;
    if (node == NONE)
      return NONE;
  } while (!atomic_compare_exchange_strong(&top, &old, below[node]));
  return node;
}

void push(unsigned char node) {
  unsigned char old = top;
  do
    below[node] = old;
  while (!atomic_compare_exchange_strong(&top, &old, node));
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
