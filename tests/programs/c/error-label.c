// The label ERROR is an error.
// verdict: unsafe
extern int nondet_int(void);

int main(void) {
  int x = nondet_int();
  if (x == 5)
    goto ERROR;
  return 0;
ERROR:
  return 1;
}
