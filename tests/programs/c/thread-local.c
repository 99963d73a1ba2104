// The one thread has its own copy.
// verdict: safe
#include <assert.h>

_Thread_local int mine = 1;

int main(void) {
  mine++;
  assert(mine == 2);
}
