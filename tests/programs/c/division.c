// INT_MIN / -1 does not fit; division by zero is excluded.
// options: --property no-overflow
// verdict: unsafe
extern int nondet_int(void);

int main(void) {
  int x = nondet_int(), y = nondet_int();
  return y ? x / y : 0;
}
