#pragma once
#include <time.h>
#define thread_local _Thread_local
#define ONCE_FLAG_INIT 0
#define TSS_DTOR_ITERATIONS 4
enum { thrd_success = 0, thrd_busy = 1, thrd_error = 2, thrd_nomem = 3, thrd_timedout = 4 };
enum { mtx_plain = 0, mtx_recursive = 1, mtx_timed = 2 };
typedef unsigned long thrd_t;
typedef int (*thrd_start_t)(void *);
typedef unsigned tss_t;
typedef void (*tss_dtor_t)(void *);
typedef int once_flag;
typedef struct __selvedge_mtx { int __kind; int __state; long __reserved[4]; } mtx_t;
typedef struct __selvedge_cnd { long __kind; long __reserved[48 / sizeof(long) - 1]; } cnd_t;
int thrd_create(thrd_t *thread, thrd_start_t start, void *argument);
int thrd_equal(thrd_t one, thrd_t other);
thrd_t thrd_current(void);
int thrd_sleep(const struct timespec *duration, struct timespec *rest);
void thrd_yield(void);
_Noreturn void thrd_exit(int result);
int thrd_detach(thrd_t thread);
int thrd_join(thrd_t thread, int *result);
void call_once(once_flag *flag, void (*function)(void));
int mtx_init(mtx_t *mutex, int kind);
int mtx_lock(mtx_t *mutex);
int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict until);
int mtx_trylock(mtx_t *mutex);
int mtx_unlock(mtx_t *mutex);
void mtx_destroy(mtx_t *mutex);
int cnd_init(cnd_t *condition);
int cnd_signal(cnd_t *condition);
int cnd_broadcast(cnd_t *condition);
int cnd_wait(cnd_t *condition, mtx_t *mutex);
int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict until);
void cnd_destroy(cnd_t *condition);
int tss_create(tss_t *key, tss_dtor_t destructor);
void *tss_get(tss_t key);
int tss_set(tss_t key, void *value);
void tss_delete(tss_t key);
