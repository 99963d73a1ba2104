// verdict: safe
// Threads that are created and waited for one after the other, any number of them.
#include <assert.h>
#include <pthread.h>

int turn;

void *worker(void *argument) {
  assert(turn == 1);
  turn = 0;
  return 0;
}

int main(void) {
  while (1) {
    pthread_t thread;
    turn = 1;
    pthread_create(&thread, 0, worker, 0);
    pthread_join(thread, 0);
    assert(turn == 0);
  }
}
