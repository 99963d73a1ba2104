// The assertion is in a header of the user, with a macro from the command line.
// options: -I include -D LIMIT=3 -DSTEP
// verdict: unsafe
#include <assert.h>
#include "limit.h"

int main(void) {
  int x = 3;
  x += STEP;
  check(x);
  return 0;
}
