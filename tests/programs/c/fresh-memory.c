// verdict: unsafe
// Memory that is allocated may hold anything.
#include <assert.h>
#include <stdlib.h>

int main(void) {
  int *number = malloc(sizeof(int));
  assert(*number == 0);
  return 0;
}
