// verdict: safe
// The numbers of `rand` are not negative, so that a remainder is an index.
#include <assert.h>
#include <stdlib.h>

int slot[4];

int main(void) {
  int at = rand() % 4;
  slot[at] = 1;
  assert(slot[at] == 1 && at >= 0);
  return 0;
}
