// A loop inside of a loop, with a function that is called in two places.
// verdict: safe
#include <assert.h>

extern unsigned __VERIFIER_nondet_uint(void);

unsigned count = 0;

static unsigned next(unsigned i) {
  count++;
  return i + 1;
}

int main(void) {
  unsigned n = __VERIFIER_nondet_uint();
  for (unsigned i = 0; i < n; i = next(i)) {
    unsigned j = 0;
    while (j != 3)
      j = next(j);
  }
  assert(count == 4 * n);
}
