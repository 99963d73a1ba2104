// A ticket lock whose tickets are not unique.
// verdict: unsafe
//
// Every access is atomic, and yet drawing a ticket is not: between the read and the write another thread draws the same
// number, and both are served at once. ticket_lock.c draws in one step.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_uint next_ticket, now_serving;
int inside; // how many threads are in the critical section

void lock(void) {
  unsigned mine = next_ticket;
  next_ticket = mine + 1;
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
