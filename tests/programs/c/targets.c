// Pointers in all places: in structs and arrays, behind pointers, through `void *`, copied with their struct, returned
// by a thread, and to functions in a struct.
// verdict: safe
#include <assert.h>
#include <pthread.h>
#include <string.h>

struct shape { int *size; int (*area)(int); struct shape *next; };

int one = 1, two = 2, other = 9;
struct shape square, line, copy;
struct shape *shapes[2] = {&square, &line};

int squared(int size) { return size * size; }
int same(int size) { return size; }
int unused(int size) { return -size; }
int (*never)(int) = unused;

void set(int **at, void *to) { *at = to; }

void *worker(void *argument) {
  struct shape *shape = *(struct shape **)argument;
  *shape->size += 1;
  return shape->next;
}

int main(void) {
  pthread_t thread;
  void *result;
  square.area = squared;
  line.area = same;
  set(&square.size, &one);
  set(&line.size, &two);
  square.next = &line;
  pthread_create(&thread, 0, worker, &shapes[0]);
  pthread_join(thread, &result);
  assert(result == &line && one == 2);
  memcpy(&copy, shapes[1], sizeof copy);
  *copy.size = 3;
  assert(two == 3 && other == 9);
  for (struct shape *at = shapes[0]; at; at = at->next)
    other += at->area(*at->size);
  assert(other == 16 && never == unused);
  return 0;
}
