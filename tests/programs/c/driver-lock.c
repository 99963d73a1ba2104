// The lock is held exactly where the counter has not changed: one of two equations holds.
// verdict: safe
#include <assert.h>

extern int __VERIFIER_nondet_int(void);

int main(void) {
  _Bool held = 0;
  int before, now = __VERIFIER_nondet_int();
  do {
    assert(!held);
    held = 1;
    before = now;
    if (__VERIFIER_nondet_int()) {
      assert(held);
      held = 0;
      now++;
    }
  } while (before != now);
  assert(held);
}
