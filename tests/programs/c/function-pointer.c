// Calls through a pointer to a function.
// verdict: unsafe
#include <assert.h>

static int one(void) { return 1; }
static int two(void) { return 2; }

int main(void) {
  extern _Bool __VERIFIER_nondet_bool(void);
  int (*choose)(void) = __VERIFIER_nondet_bool() ? one : two;
  assert(choose() == 1);
}
