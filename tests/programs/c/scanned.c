// What `scanf` reads is any number, and there may be none.
// verdict: safe
#include <assert.h>
#include <stdio.h>

int main(void) {
  int first = 1;
  unsigned char second = 2;
  int count = scanf("%d %hhu", &first, &second);
  assert(count <= 2);
  if (count < 2)
    assert(second == 2);
  if (count < 1)
    assert(first == 1);
  return 0;
}
