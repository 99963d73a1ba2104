// Loops, `switch` with falling through, `goto`, `continue` and `break`.
// verdict: safe
#include <assert.h>

enum colour { RED, GREEN, BLUE = 7 };

static int number(enum colour colour) {
  int n = 0;
  switch (colour) {
  case RED:
    n += 1;
  case GREEN:
    n += 2;
    break;
  case BLUE:
    return 9;
  default:
    n = -1;
  }
  return n;
}

int main(void) {
  assert(number(RED) == 3 && number(GREEN) == 2);
  assert(number(BLUE) == 9 && number((enum colour)5) == -1);
  int rounds = 0, i = 0;
  do {
    if (i == 2)
      continue;
    rounds++;
  } while (i++ < 4);
  assert(rounds == 4 && i == 5);
again:
  if (--i > 0)
    goto again;
  assert(i == 0);
  for (;;) {
    if (++i == 3)
      break;
  }
  assert(i == 3);
}
