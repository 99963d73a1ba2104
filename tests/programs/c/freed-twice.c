// An object is freed twice.
// verdict: unsafe
// options: --property memory
#include <stdlib.h>

int main(void) {
  int *object = malloc(sizeof *object);
  int *same = object;
  free(object);
  free(same);
  return 0;
}
