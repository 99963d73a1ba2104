#ifndef LIMIT
#define LIMIT 2
#endif

static void check(int x) {
  assert(x <= LIMIT);
}
