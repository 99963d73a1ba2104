// A null pointer is followed if the input is not 7.
// options: --property memory
// verdict: unsafe
extern int nondet_int(void);
int x;

int main(void) {
  int *p = 0;
  if (nondet_int() == 7) p = &x;
  *p = 1;
  return 0;
}
