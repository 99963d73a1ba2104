// A pointer into a block is followed behind the block.
// verdict: unsafe
// options: --property memory
int main(void) {
  int *p = 0;
  for (int i = 0; i < 2; i++) {
    int here = i;
    p = &here;
    *p += 1;
  }
  return *p;
}
