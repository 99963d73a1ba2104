// An annotation that fails.
// verdict: unsafe
extern int nondet_int(void);

int main(void) {
  int x = nondet_int();
  if (x > 3) {
    //@ assert x > 4 ==> x > 5;
    x = 0;
  }
  return x;
}
