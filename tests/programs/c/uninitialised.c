// A local without an initial value has any value, each time that its declaration is executed.
// verdict: unsafe
#include <assert.h>

int main(void) {
  for (int i = 0; i < 2; i++) {
    unsigned char x;
    if (i == 0)
      x = 1;
    assert(x == 1);
  }
}
