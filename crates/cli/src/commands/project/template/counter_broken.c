// verdict: unsafe
// Two threads add to a counter without a lock: one of the additions can be lost.
#include <assert.h>
#include <pthread.h>

static int counter;

static void *add(void *unused) {
    counter = counter + 1;
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, add, 0);
    pthread_create(&second, 0, add, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(counter == 2);
    return 0;
}
