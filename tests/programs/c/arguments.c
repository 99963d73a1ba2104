// The number of arguments is any number that is not negative.
// verdict: safe
#include <assert.h>
#include <stdio.h>

int main(int argc, char **argv) {
  char **first = argv;
  assert(argc >= 0);
  if (argc > 2 && first != 0) {
    fprintf(stderr, "too many\n");
    return 1;
  }
  assert(argc == 0 || argc == 1 || argc == 2);
  return 0;
}
