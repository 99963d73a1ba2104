// A pointer is moved from one object to another.
// options: --property memory
// verdict: unsafe
int a[3], b[3];

int main(void) {
  int *p = a, *q = b;
  p = p + 8;
  *p = 1;
  return *q;
}
