#pragma once
#include <selvedge/types.h>
#include <time.h>
typedef struct __selvedge_sem { long __value; long __reserved[3]; } sem_t;
#define SEM_FAILED ((sem_t *)0)
#define SEM_VALUE_MAX 2147483647
int sem_init(sem_t *semaphore, int shared, unsigned value);
int sem_destroy(sem_t *semaphore);
int sem_wait(sem_t *semaphore);
int sem_trywait(sem_t *semaphore);
int sem_timedwait(sem_t *semaphore, const struct timespec *until);
int sem_post(sem_t *semaphore);
int sem_getvalue(sem_t *semaphore, int *value);
sem_t *sem_open(const char *name, int flags, ...);
int sem_close(sem_t *semaphore);
int sem_unlink(const char *name);
