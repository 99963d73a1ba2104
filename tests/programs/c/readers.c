// Readers share a lock, a writer has it alone.
// verdict: safe
#include <assert.h>
#include <pthread.h>

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int x, y;

void *writer(void *argument) {
  pthread_rwlock_wrlock(&lock);
  x = 1;
  y = 1;
  pthread_rwlock_unlock(&lock);
  return 0;
}

void *reader(void *argument) {
  pthread_rwlock_rdlock(&lock);
  assert(x == y);
  pthread_rwlock_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t one, two, three;
  pthread_create(&one, 0, reader, 0);
  pthread_create(&two, 0, writer, 0);
  pthread_create(&three, 0, reader, 0);
}
