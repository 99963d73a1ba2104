// Nothing overflows: bounds are tested, unsigned numbers wrap around, small types compute in `int`, and what is not
// evaluated does not count.
// options: --property no-overflow
// verdict: safe
#include <limits.h>
extern int nondet_int(void);
extern unsigned char nondet_uchar(void);

int main(void) {
  int x = nondet_int(), y = nondet_int();
  unsigned u = x;
  signed char c = 127;
  c++;
  u = u * 3 + 7;
  if (y != 0 && x > -1000 && x < 1000 && x / y > 3) x = x * 5 - 20 % (y > 0 ? y : 1);
  if (x < INT_MAX) x++;
  if (x > INT_MIN) x = -x;
  unsigned char by = nondet_uchar();
  if (by < 4) x = (x & 15) << by;
  return 0;
}
