// verdict: safe
// Strings are arrays, also where only a pointer leads to them.
#include <assert.h>

char text[] = "ab\xff";
const char *names[] = { "none", "one" };

static int length(const char *text) {
  int n = 0;
  while (text[n]) n++;
  return n;
}

int main(void) {
  assert(sizeof text == 4 && text[1] == 'b' && text[2] == -1 && text[3] == 0);
  const char *name = names[1];
  assert(name[0] == 'o' && *(name + 2) == 'e');
  assert(length(names[0]) == 4);
  char copy[4] = "xyz";
  copy[0] = *"q";
  assert(copy[0] == 'q' && copy[2] == 'z');
  return 0;
}
