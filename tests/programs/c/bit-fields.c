// verdict: safe
// Bit-fields hold as many bits as they say, with a sign if their type has one.
#include <assert.h>

struct flags {
  unsigned mode : 3;
  int level : 4;
  unsigned : 0;
  _Bool ready : 1;
  unsigned long wide : 40;
} flags = { .mode = 5, .level = -1 };

int main(void) {
  assert(flags.mode == 5 && flags.level == -1 && !flags.ready);
  flags.mode += 4;
  assert(flags.mode == 1);
  assert((flags.mode = 10) == 2);
  flags.level = 9;
  assert(flags.level == -7);
  assert(++flags.level == -6 && flags.level++ == -6);
  flags.ready = 4;
  assert(flags.ready == 1);
  flags.wide = ~0ul;
  assert(flags.wide == (1ul << 40) - 1);
  struct flags copy = flags, *pointer = &copy;
  pointer->mode--;
  pointer->mode -= 2;
  assert(copy.mode == 7 && flags.mode == 2);
  return 0;
}
