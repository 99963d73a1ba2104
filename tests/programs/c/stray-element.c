// The address of an element that is far outside of its array leads to another object.
// options: --property memory
// verdict: unsafe
int a[3], b[3];

int main(void) {
  int *q = b, *end = &a[3], i = 8;
  int *p = &a[i];
  *p = *q;
  return end == p;
}
