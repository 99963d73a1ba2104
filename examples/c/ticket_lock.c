// A ticket lock: each thread draws a ticket and waits until its number is served.
// verdict: safe
//
// Drawing is one atomic step, so that no two threads have the same number. ticket_lock_broken.c reads the number and
// writes the next one in two steps.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_uint next_ticket, now_serving;
int inside; // how many threads are in the critical section

void lock(void) {
  unsigned mine = atomic_fetch_add(&next_ticket, 1);
  while (now_serving != mine)
    ;
}

void unlock(void) {
  atomic_fetch_add(&now_serving, 1);
}

void *customer(void *unused) {
  lock();
  inside++;
  assert(inside == 1);
  inside--;
  unlock();
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, customer, 0);
  pthread_create(&two, 0, customer, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
