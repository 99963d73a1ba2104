// A shift by as many places as the type has bits.
// options: --property no-overflow
// verdict: unsafe
extern unsigned char nondet_uchar(void);

int main(void) {
  unsigned char by = nondet_uchar();
  unsigned x = 1;
  if (by <= 32) x = x << by;
  return 0;
}
