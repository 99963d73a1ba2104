#pragma once
#include <sched.h>
#include <stddef.h>
#include <selvedge/types.h>
#include <time.h>

/* The sizes are those of the GNU C library, and initial values that were made for it fit: `__kind` is what they set. */
#ifdef __LP64__
#define __SELVEDGE_WORDS(lp64, ilp32) lp64
#else
#define __SELVEDGE_WORDS(lp64, ilp32) ilp32
#endif
typedef unsigned long pthread_t;
typedef unsigned pthread_key_t;
typedef int pthread_once_t;
typedef volatile int pthread_spinlock_t;
struct __selvedge_mutex_data {
  int __lock;
  unsigned __count;
  int __owner;
#ifdef __LP64__
  unsigned __nusers;
  int __kind;
  short __spins, __elision;
  struct { void *__prev, *__next; } __list;
#else
  int __kind;
  unsigned __nusers;
  union { struct { short __espins, __eelision; } __elision_data; void *__list; };
#endif
};
typedef union __selvedge_mutex {
  struct __selvedge_mutex_data __data;
  char __size[__SELVEDGE_WORDS(40, 24)];
  long __align;
} pthread_mutex_t;
typedef struct __selvedge_mutexattr { int __kind; } pthread_mutexattr_t;
typedef struct __selvedge_cond { long __kind; long __reserved[__SELVEDGE_WORDS(5, 11)]; } pthread_cond_t;
typedef struct __selvedge_condattr { int __kind; } pthread_condattr_t;
typedef struct __selvedge_rwlock { long __kind; long __reserved[__SELVEDGE_WORDS(6, 7)]; } pthread_rwlock_t;
typedef struct __selvedge_rwlockattr { long __kind; __SELVEDGE_WORDS(, long __reserved;) } pthread_rwlockattr_t;
typedef struct __selvedge_barrier { long __kind; long __reserved[__SELVEDGE_WORDS(3, 4)]; } pthread_barrier_t;
typedef struct __selvedge_barrierattr { int __kind; } pthread_barrierattr_t;
typedef struct __selvedge_attr { long __kind; long __reserved[__SELVEDGE_WORDS(6, 8)]; } pthread_attr_t;

#define PTHREAD_MUTEX_NORMAL 0
#define PTHREAD_MUTEX_TIMED_NP 0
#define PTHREAD_MUTEX_RECURSIVE 1
#define PTHREAD_MUTEX_RECURSIVE_NP 1
#define PTHREAD_MUTEX_ERRORCHECK 2
#define PTHREAD_MUTEX_ERRORCHECK_NP 2
#define PTHREAD_MUTEX_ADAPTIVE_NP 3
#define PTHREAD_MUTEX_DEFAULT PTHREAD_MUTEX_NORMAL
#define PTHREAD_MUTEX_STALLED 0
#define PTHREAD_MUTEX_ROBUST 1
#define PTHREAD_PRIO_NONE 0
#define PTHREAD_PRIO_INHERIT 1
#define PTHREAD_PRIO_PROTECT 2
#define PTHREAD_PROCESS_PRIVATE 0
#define PTHREAD_PROCESS_SHARED 1
#define PTHREAD_CREATE_JOINABLE 0
#define PTHREAD_CREATE_DETACHED 1
#define PTHREAD_CANCEL_ENABLE 0
#define PTHREAD_CANCEL_DISABLE 1
#define PTHREAD_CANCEL_DEFERRED 0
#define PTHREAD_CANCEL_ASYNCHRONOUS 1
#define PTHREAD_CANCELED ((void *)-1)
#define PTHREAD_SCOPE_SYSTEM 0
#define PTHREAD_SCOPE_PROCESS 1
#define PTHREAD_INHERIT_SCHED 0
#define PTHREAD_EXPLICIT_SCHED 1
#define PTHREAD_BARRIER_SERIAL_THREAD (-1)
#define PTHREAD_ONCE_INIT 0
#define PTHREAD_MUTEX_INITIALIZER { { .__kind = PTHREAD_MUTEX_NORMAL } }
#define PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP { { .__kind = PTHREAD_MUTEX_RECURSIVE } }
#define PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP { { .__kind = PTHREAD_MUTEX_ERRORCHECK } }
#define PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP { { .__kind = PTHREAD_MUTEX_ADAPTIVE_NP } }
#define PTHREAD_COND_INITIALIZER { 0 }
#define PTHREAD_RWLOCK_INITIALIZER { 0 }

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
int pthread_join(pthread_t thread, void **result);
int pthread_detach(pthread_t thread);
_Noreturn void pthread_exit(void *result);
pthread_t pthread_self(void);
int pthread_equal(pthread_t one, pthread_t other);
int pthread_cancel(pthread_t thread);
int pthread_setcancelstate(int state, int *old);
int pthread_setcanceltype(int type, int *old);
void pthread_testcancel(void);
int pthread_yield(void);
int pthread_once(pthread_once_t *once, void (*function)(void));
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

int pthread_attr_init(pthread_attr_t *attributes);
int pthread_attr_destroy(pthread_attr_t *attributes);
int pthread_attr_setdetachstate(pthread_attr_t *attributes, int state);
int pthread_attr_getdetachstate(const pthread_attr_t *attributes, int *state);
int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t size);
int pthread_attr_getstacksize(const pthread_attr_t *attributes, size_t *size);
int pthread_attr_setscope(pthread_attr_t *attributes, int scope);
int pthread_attr_setschedpolicy(pthread_attr_t *attributes, int policy);
int pthread_attr_setschedparam(pthread_attr_t *attributes, const struct sched_param *parameter);
int pthread_attr_setinheritsched(pthread_attr_t *attributes, int inherit);
int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *parameter);
int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *parameter);
int pthread_setconcurrency(int level);
int pthread_setname_np(pthread_t thread, const char *name);

int pthread_mutexattr_init(pthread_mutexattr_t *attributes);
int pthread_mutexattr_destroy(pthread_mutexattr_t *attributes);
int pthread_mutexattr_settype(pthread_mutexattr_t *attributes, int kind);
int pthread_mutexattr_gettype(const pthread_mutexattr_t *attributes, int *kind);
int pthread_mutexattr_setpshared(pthread_mutexattr_t *attributes, int shared);
int pthread_mutexattr_setprotocol(pthread_mutexattr_t *attributes, int protocol);
int pthread_mutexattr_setrobust(pthread_mutexattr_t *attributes, int robust);
int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int pthread_mutex_destroy(pthread_mutex_t *mutex);
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_trylock(pthread_mutex_t *mutex);
int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until);
int pthread_mutex_unlock(pthread_mutex_t *mutex);

int pthread_condattr_init(pthread_condattr_t *attributes);
int pthread_condattr_destroy(pthread_condattr_t *attributes);
int pthread_condattr_setpshared(pthread_condattr_t *attributes, int shared);
int pthread_condattr_setclock(pthread_condattr_t *attributes, clockid_t clock);
int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes);
int pthread_cond_destroy(pthread_cond_t *condition);
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until);
int pthread_cond_signal(pthread_cond_t *condition);
int pthread_cond_broadcast(pthread_cond_t *condition);

int pthread_rwlockattr_init(pthread_rwlockattr_t *attributes);
int pthread_rwlockattr_destroy(pthread_rwlockattr_t *attributes);
int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes);
int pthread_rwlock_destroy(pthread_rwlock_t *lock);
int pthread_rwlock_rdlock(pthread_rwlock_t *lock);
int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock);
int pthread_rwlock_wrlock(pthread_rwlock_t *lock);
int pthread_rwlock_trywrlock(pthread_rwlock_t *lock);
int pthread_rwlock_unlock(pthread_rwlock_t *lock);

int pthread_spin_init(pthread_spinlock_t *lock, int shared);
int pthread_spin_destroy(pthread_spinlock_t *lock);
int pthread_spin_lock(pthread_spinlock_t *lock);
int pthread_spin_trylock(pthread_spinlock_t *lock);
int pthread_spin_unlock(pthread_spinlock_t *lock);

int pthread_barrierattr_init(pthread_barrierattr_t *attributes);
int pthread_barrierattr_destroy(pthread_barrierattr_t *attributes);
int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes, unsigned count);
int pthread_barrier_destroy(pthread_barrier_t *barrier);
int pthread_barrier_wait(pthread_barrier_t *barrier);

int pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
int pthread_key_delete(pthread_key_t key);
int pthread_setspecific(pthread_key_t key, const void *value);
void *pthread_getspecific(pthread_key_t key);

void __selvedge_cleanup_push(void (*routine)(void *), void *argument);
void __selvedge_cleanup_pop(int execute);
#define pthread_cleanup_push(routine, argument) do { __selvedge_cleanup_push((routine), (argument))
#define pthread_cleanup_pop(execute) __selvedge_cleanup_pop(execute); } while (0)
