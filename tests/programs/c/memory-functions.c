// verdict: safe
// memset and memcpy of whole objects and arrays.
#include <assert.h>
#include <string.h>

struct record { int numbers[3]; short tag; } one, other;
int array[4] = { 1, 2, 3, 4 };
unsigned words[2];

static void clear(struct record *record) { memset(record, 0, sizeof *record); }

int main(void) {
  int copy[4];
  memcpy(copy, array, sizeof copy);
  assert(copy[0] == 1 && copy[3] == 4);
  memmove(&array[1], &array[0], 3 * sizeof(int));
  assert(array[0] == 1 && array[1] == 1 && array[2] == 2 && array[3] == 3);
  one.numbers[2] = 5;
  one.tag = 6;
  memcpy(&other, &one, sizeof one);
  assert(other.numbers[2] == 5 && other.tag == 6);
  clear(&other);
  assert(other.numbers[2] == 0 && other.tag == 0 && one.tag == 6);
  memset(words, 0xab, sizeof words);
  assert(words[0] == 0xababababu && words[1] == words[0]);
  return 0;
}
