// A sum of two inputs may overflow.
// options: --property no-overflow
// verdict: unsafe
extern int nondet_int(void);

int main(void) {
  int x = nondet_int(), y = nondet_int();
  if (x > 0 && y > 0) {
    int z = x + y;
    return z;
  }
  return 0;
}
