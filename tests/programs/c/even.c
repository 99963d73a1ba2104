// What holds is an equation in the lowest bit: the counter stays even, whatever it is.
// verdict: safe
#include <assert.h>

extern int __VERIFIER_nondet_int(void);

int main(void) {
  short even = 0;
  while (__VERIFIER_nondet_int())
    even += 2;
  assert(even != 7 && even % 2 == 0);
}
