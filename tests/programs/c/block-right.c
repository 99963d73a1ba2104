// Pointers into blocks, which are entered and left in all ways, and followed inside only.
// verdict: safe
// options: --property memory,assertions
#include <assert.h>

int total;

void add(const int *from) { total += *from; }

int main(void) {
  for (int i = 0; i < 3; i++) {
    int here = i;
    int *p = &here;
    if (i == 1)
      continue;
    add(p);
    {
      int inner = 10;
      p = &inner;
      if (*p == 11)
        break;
    }
    p = &here;
    *p = 5;
    add(p);
  }
  assert(total == 12);
  switch (total) {
    int cell;
  case 12:
    cell = 1;
    int *q = &cell;
    add(q);
    break;
  default:
    break;
  }
  int rounds = 0;
again:;
  int kept = 4;
  int *r = &kept;
  if (rounds++ < 1)
    goto again;
  add(r);
  add(&(int){3});
  goto inside;
  {
    int late;
  inside:
    late = 2;
    int *s = &late;
    add(s);
  }
  assert(total == 22);
  return 0;
}
