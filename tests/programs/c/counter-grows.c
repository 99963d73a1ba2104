// A counter of 32 bits that any number of threads add to, each by compare-and-exchange. It never falls below a value
// that was seen, which no list of values shows: the relation between the two does.
// verdict: safe
#include <pthread.h>
#include <assert.h>
#include <limits.h>

unsigned counter;

void *worker(void *unused) {
    unsigned seen, now;
    int done;
    do {
        seen = counter;
        if (seen == UINT_MAX)
            return 0;
        done = __sync_bool_compare_and_swap(&counter, seen, seen + 1);
    } while (!done);
    now = counter;
    assert(now > seen);
    return 0;
}

int main(void) {
    pthread_t thread;
    while (1)
        pthread_create(&thread, 0, worker, 0);
}
