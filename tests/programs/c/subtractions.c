// The greatest common divisor by subtractions of any numbers: they stay positive, and in the end are equal.
// verdict: safe
#include <assert.h>

extern unsigned __VERIFIER_nondet_uint(void);

int main(void) {
  unsigned a = __VERIFIER_nondet_uint(), b = __VERIFIER_nondet_uint();
  if (a == 0 || b == 0)
    return 0;
  while (a != b)
    if (a > b)
      a -= b;
    else
      b -= a;
  assert(a != 0);
}
