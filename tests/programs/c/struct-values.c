// verdict: safe
// Structs are assigned, passed, returned and chosen as values; a copy does not change with its original.
#include <assert.h>

struct pair { int first; unsigned char second; };
struct nested { struct pair parts[2]; int sum; };

static struct pair swap(struct pair pair) {
  struct pair other = { pair.second, (unsigned char)pair.first };
  pair.first = 99;
  return other;
}

static int total(struct nested value, int more) { return value.parts[0].first + value.parts[1].second + more; }

struct pair global = { 3, 4 };

int main(void) {
  struct pair local = global, copy;
  copy = local;
  local.first = 7;
  assert(copy.first == 3 && copy.second == 4);
  copy = swap(copy);
  assert(copy.first == 4 && copy.second == 3);
  assert(swap(copy).first == 3);
  global = (struct pair){ .second = 9 };
  assert(global.first == 0 && global.second == 9);
  struct nested nested = { { local, copy }, 1 };
  struct pair chosen = nested.sum ? nested.parts[0] : global;
  assert(chosen.first == 7);
  assert(total(nested, nested.sum) == 7 + 3 + 1);
  struct pair *pointer = &global;
  *pointer = nested.parts[1];
  assert(global.first == 4 && pointer->second == 3);
  return 0;
}
