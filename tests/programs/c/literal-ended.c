// A compound literal ends with its block.
// verdict: unsafe
// options: --property memory
struct pair { int a, b; };

int main(void) {
  struct pair *p = 0;
  if (!p) {
    p = &(struct pair){1, 2};
    p->a = p->b;
  }
  return p->a;
}
