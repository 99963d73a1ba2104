// verdict: safe
// Cases inside of blocks and loops, as in Duff's device, and jumps into blocks.
#include <assert.h>

static int copies(int count) {
  int done = 0, rounds = (count + 3) / 4;
  switch (count % 4) {
  case 0: do { done++;
  case 3:      done++;
  case 2:      done++;
  case 1:      done++;
          } while (--rounds > 0);
  }
  return done;
}

int main(void) {
  assert(copies(7) == 7 && copies(4) == 4);
  int kind = 0;
  switch (3) {
  case 1 ... 2: kind = 1; break;
  default: kind = 2;
  case 9: kind += 10;
  }
  assert(kind == 12);
  int n = 0;
  goto inside;
  while (n < 3) {
    n = 100;
  inside:
    n++;
  }
  assert(n == 101);
  return 0;
}
