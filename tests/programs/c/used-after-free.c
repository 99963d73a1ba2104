// An object is used behind free.
// verdict: unsafe
// options: --property memory
#include <stdlib.h>

int main(void) {
  int *object = malloc(sizeof *object);
  *object = 1;
  free(object);
  return *object;
}
