// Values that a later operand changes, and operands that are not evaluated.
// verdict: safe
#include <assert.h>

int calls;

static int next(void) {
  return ++calls;
}

int main(void) {
  int x = 1;
  int y = x++ + 10;
  assert(y == 11 && x == 2);
  assert((0 && next()) == 0);
  assert(calls == 0);
  assert((1 || next()) == 1);
  assert(calls == 0);
  int z = (next(), next());
  assert(z == 2);
  int first = calls, second = next();
  assert(first == 2 && second == 3);
  x = calls > 2 ? 5 : next();
  assert(x == 5 && calls == 3);
  x -= 7;
  assert(x == -2 && !(x > 0));
}
