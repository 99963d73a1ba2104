extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
int main(void) {
  int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
  if (a <= 0 || b <= 0) return 0;
  int middle = (int)(((unsigned)a + (unsigned)b)) / 2;
  if (middle < 0) reach_error();
  return 0;
}
