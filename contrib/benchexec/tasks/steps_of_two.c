extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
int main(void) {
  int i = 0;
  while (i < 10) {
    i = i + 2;
  }
  if (i != 10) reach_error();
  return 0;
}
