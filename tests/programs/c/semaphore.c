// A semaphore with one permit is a lock.
// verdict: safe
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

sem_t permit;
int inside;

void *worker(void *argument) {
  sem_wait(&permit);
  inside++;
  assert(inside == 1);
  inside--;
  sem_post(&permit);
  return 0;
}

int main(void) {
  pthread_t one, two;
  sem_init(&permit, 0, 1);
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
}
