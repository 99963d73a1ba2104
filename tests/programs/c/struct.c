// Structs, nested, with initial values; arrays of them; a pointer that moves through an array.
// verdict: safe
#include <assert.h>

struct point { int x, y; };
struct line { struct point from, to; };
struct line line = { { 1, 2 }, { .y = 4 } };
struct point points[3] = { [1] = { 5, 6 } };

static int length(const struct point *point) {
  return point->x + point->y;
}

int main(void) {
  assert(line.from.y == 2 && line.to.x == 0 && line.to.y == 4);
  assert(length(&line.from) == 3);
  struct point *p = points;
  p++;
  assert(p->x == 5 && p == &points[1]);
  p->y = 7;
  assert(points[1].y == 7 && length(&points[1]) == 12);
  int local = 3, *q = &local;
  *q += 1;
  assert(local == 4);
}
