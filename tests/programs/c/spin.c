// verdict: safe
// Spin locks, and semaphores that are only tried.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

pthread_spinlock_t lock;
sem_t tokens;
int data;

void *worker(void *argument) {
  pthread_spin_lock(&lock);
  int seen = data;
  data = seen + 1;
  pthread_spin_unlock(&lock);
  if (sem_trywait(&tokens) == 0) {
    int left;
    sem_getvalue(&tokens, &left);
    assert(left == 0);
  }
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  sem_init(&tokens, 0, 1);
  pthread_create(&thread, 0, worker, 0);
  worker(0);
  pthread_join(thread, 0);
  assert(data == 2 && pthread_spin_trylock(&lock) == 0 && pthread_spin_trylock(&lock) != 0);
  return 0;
}
