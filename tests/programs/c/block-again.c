// Each round of a loop has a variable of its own: the one of the first round has ended when the second one begins.
// verdict: unsafe
// options: --property memory
int main(void) {
  int *first = 0;
  for (int i = 0; i < 3; i++) {
    int here = i;
    if (i == 0)
      first = &here;
    if (i == 2)
      *first = 7;
  }
  return 0;
}
