// Recursion, and the result of a call in an expression.
// verdict: safe
#include <assert.h>

static int sum(int n) {
  return n == 0 ? 0 : n + sum(n - 1);
}

int main(void) {
  assert(sum(4) == 10);
}
