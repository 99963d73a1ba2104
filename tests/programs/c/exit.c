// Nothing happens behind `exit`.
// verdict: safe
#include <assert.h>
#include <stdlib.h>

int main(void) {
  int x = 1;
  if (x)
    exit(0);
  assert(0);
}
