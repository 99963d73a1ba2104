void sv_turn(int site);
void sv_read(void);
void sv_fail(int line) __attribute__((noreturn));
long long sv_local(int local);
#define main sv_main
#define pthread_create sv_pthread_create
#define pthread_exit sv_pthread_exit
#define pthread_cond_wait sv_pthread_cond_wait
#define exit sv_exit
#define abort sv_abort
#define _exit sv__exit
#define rand sv_rand
#define random sv_random
#define lrand48 sv_lrand48
#define time sv_time
#define clock sv_clock
#define sleep sv_sleep
#define usleep sv_usleep
