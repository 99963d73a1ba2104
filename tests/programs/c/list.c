// verdict: safe
// A list of objects that are allocated.
#include <assert.h>
#include <stdlib.h>

struct node { int value; struct node *next; };

static struct node *push(struct node *list, int value) {
  struct node *node = malloc(sizeof *node);
  node->value = value;
  node->next = list;
  return node;
}

int main(void) {
  struct node *list = push(push(0, 1), 2);
  assert(list->value == 2 && list->next->value == 1 && list->next->next == 0);
  int *zeros = calloc(3, sizeof(int));
  assert(zeros[0] == 0 && zeros[2] == 0 && zeros != &list->value);
  zeros[1] = 4;
  assert(*(zeros + 1) == 4);
  struct node *rest = list->next;
  free(list);
  assert(rest->value == 1);
  free(rest);
  free(0);
  return 0;
}
