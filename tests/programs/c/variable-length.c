// An array has as many elements as a number says that is not known, but is four at most.
// verdict: safe
#include <assert.h>

int main(void) {
  int length = __VERIFIER_nondet_int();
  if (length < 1 || length > 4)
    return 0;
  int numbers[length];
  for (int i = 0; i < length; i++)
    numbers[i] = i;
  int *last = &numbers[length - 1];
  assert(*last == length - 1);
  return 0;
}
