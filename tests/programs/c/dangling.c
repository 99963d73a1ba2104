// The address of a local object outlives its function.
// options: --property memory
// verdict: unsafe
static int *leak(void) {
  int local = 1;
  return &local;
}

int main(void) {
  int *p = leak();
  return *p;
}
