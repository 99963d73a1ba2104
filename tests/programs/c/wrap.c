// Conversions between integer types: signs, widths and wrap-around.
// verdict: safe
#include <assert.h>

int main(void) {
  unsigned char small = 255;
  small++;
  assert(small == 0);
  signed char sign = (signed char)200;
  assert(sign == -56);
  unsigned int large = 0;
  large--;
  assert(large == 4294967295u);
  assert(-7 / 2 == -3 && -7 % 2 == -1);
  long long wide = -1;
  assert((unsigned)wide == large);
  assert((sign >> 3) == -7);
  _Bool truth = 256;
  assert(truth == 1);
  return 0;
}
