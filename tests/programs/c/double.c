// A loop whose end any input decides: the sum is twice the counter, also where both wrap around.
// verdict: safe
#include <assert.h>

extern unsigned __VERIFIER_nondet_uint(void);

int main(void) {
  unsigned n = __VERIFIER_nondet_uint(), i = 0, s = 0;
  while (i < n) {
    i++;
    s += 2;
  }
  assert(i == n && s == 2 * n);
}
