// Any input: one makes the assertion fail.
// verdict: unsafe
#include <assert.h>

extern unsigned char __VERIFIER_nondet_uchar(void);
extern void __VERIFIER_assume(int);

int main(void) {
  unsigned char x = __VERIFIER_nondet_uchar();
  __VERIFIER_assume(x > 10 && x < 20);
  assert(x * x != 169);
}
