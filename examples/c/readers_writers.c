// Readers and writers: any number of readers are in the room together, or one writer alone.
// verdict: safe
//
// The first reader takes the room for all readers, the last one leaves it. Their number is counted under a mutex of its
// own. readers_writers_broken.c counts without it.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

sem_t room;
pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
int readers;   // how many readers are in the room or on their way in
int left, right; // what is written: always equal for whoever is allowed to look

void *reader(void *unused) {
  pthread_mutex_lock(&counting);
  readers++;
  if (readers == 1)
    sem_wait(&room);
  pthread_mutex_unlock(&counting);

  assert(left == right);

  pthread_mutex_lock(&counting);
  readers--;
  if (readers == 0)
    sem_post(&room);
  pthread_mutex_unlock(&counting);
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
