// Pointers and indices stay in their objects; one just behind the end is not followed.
// options: --property memory
// verdict: safe
int a[3], b[3], total;

static void add(int *p) {
  if (p) total += *p;
}

int main(void) {
  for (int i = 0; i < 3; i++) a[i] = i;
  for (int *p = b; p != b + 3; p++) *p = 1;
  add(&a[2]);
  add(0);
  int local = 5;
  add(&local);
  return 0;
}
