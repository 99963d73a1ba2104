// Readers and writers with a counter that nobody protects.
// verdict: unsafe
//
// Two readers may both increment the counter before either of them looks at it. Then none is the first, nobody takes the
// room, and a writer walks in. readers_writers.c counts under a mutex.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

sem_t room;
int readers;   // how many readers are in the room or on their way in
int left, right; // what is written: always equal for whoever is allowed to look

void *reader(void *unused) {
  readers++;
  if (readers == 1)
    sem_wait(&room);

  assert(left == right);

  readers--;
  if (readers == 0)
    sem_post(&room);
  return 0;
}

void *writer(void *unused) {
  sem_wait(&room);
  left++;
  right++;
  sem_post(&room);
  return 0;
}

int main(void) {
  pthread_t threads[3];
  sem_init(&room, 0, 1);
  pthread_create(&threads[0], 0, reader, 0);
  pthread_create(&threads[1], 0, reader, 0);
  pthread_create(&threads[2], 0, writer, 0);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], 0);
  return 0;
}
