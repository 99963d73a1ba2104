// verdict: safe
// Expressions of GNU C, differences of pointers and unions.
#include <assert.h>

int calls;
static int next(void) { return ++calls; }

union word { int number; unsigned bits; };
#define MAX(a, b) ({ int _a = (a), _b = (b); _a > _b ? _a : _b; })

int main(void) {
  assert(MAX(next(), next()) == 2 && calls == 2);
  assert((next() ?: 9) == 3 && (0 ?: 9) == 9 && calls == 3);
  int array[5], *begin = array, *end = &array[5];
  assert(end - begin == 5 && begin - end == -5);
  union word word, other;
  word.number = -1;
  assert(word.bits == 0xffffffffu);
  other = word;
  assert(other.number == -1);
  int *literal = (int[]){ 1, 2, 3 };
  assert(literal[2] == 3);
  int sum = 0, i;
  for (i = 0, sum = 1; i < 3; i++, sum *= 2) continue;
  assert(sum == 8);
  return 0;
}
