// What is freed was never allocated.
// verdict: unsafe
// options: --property memory
#include <stdlib.h>

int main(int argc, char **argv) {
  int here = 1;
  int *p = argc > 3 ? &here : (int *)malloc(sizeof(int));
  free(p);
  return 0;
}
