extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
int main(void) {
  int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
  int most = a > b ? a : b;
  if (most < a || most < b) reach_error();
  return 0;
}
