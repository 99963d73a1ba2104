#undef main
#undef pthread_create
#undef pthread_exit
#undef pthread_cond_wait
#undef exit
#undef abort
#undef _exit
#undef rand
#undef random
#undef lrand48
#undef time
#undef clock
#undef sleep
#undef usleep
int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *);
void pthread_exit(void *) __attribute__((noreturn));
void _exit(int) __attribute__((noreturn));
long write(int, const void *, unsigned long);
unsigned alarm(unsigned);

static pthread_mutex_t sv_mutex;
static pthread_cond_t sv_changed;
static int sv_now, sv_created;
static __thread int sv_me;
static __thread int sv_counts[SV_SITES], sv_n_inputs;

static void sv_say(const char *text, int line) {
  char number[16];
  int at = 16;
  if (line) {
    number[--at] = '\n';
    do number[--at] = (char)('0' + line % 10); while (line /= 10);
  }
  long done = write(2, text, __builtin_strlen(text));
  done += write(2, number + at, (unsigned long)(16 - at));
  (void)done;
}

/* The error of the execution. */
void sv_fail(int line) {
  sv_say("harness: the error is reached, line ", line);
  __builtin_abort();
}

/* Something happened that is not in the execution. */
static void sv_lost(const char *text) {
  sv_say(text, 0);
  _exit(3);
}

/* Waits until it is this thread's turn. The mutex is held. */
static void sv_wait(void) {
  while (sv_now >= SV_TURNS || sv_turns[sv_now] != sv_me)
    pthread_cond_wait(&sv_changed, &sv_mutex);
}

static void sv_pass(void) {
  sv_now++;
  pthread_cond_broadcast(&sv_changed);
}

void sv_turn(int site) {
  int count = sv_counts[site]++;
  for (int stop = 0; stop < SV_STOPS; stop++) {
    if (sv_stops[stop].thread == sv_me && sv_stops[stop].site == site && sv_stops[stop].count == count) {
      pthread_mutex_lock(&sv_mutex);
      if (sv_now >= SV_TURNS || sv_turns[sv_now] != sv_me)
        sv_lost("harness: a thread runs that should wait\n");
      sv_pass();
      sv_wait();
      pthread_mutex_unlock(&sv_mutex);
      return;
    }
  }
}

void __attribute__((noinline)) sv_read(void) { __asm__ volatile("" ::: "memory"); }

/* The end of a thread. */
static void sv_end(void) {
  pthread_mutex_lock(&sv_mutex);
  if (sv_now < SV_TURNS && sv_turns[sv_now] == sv_me)
    sv_pass();
  if (sv_now >= SV_TURNS)
    sv_lost("harness: the threads ran to their ends without an error\n");
  pthread_mutex_unlock(&sv_mutex);
}

/* The thread does not go on. */
static void __attribute__((noreturn)) sv_park(void) {
  sv_end();
  pthread_mutex_lock(&sv_mutex);
  for (;;)
    pthread_cond_wait(&sv_changed, &sv_mutex);
}

void __attribute__((noreturn)) sv_exit(int status) { (void)status; sv_park(); }
void __attribute__((noreturn)) sv__exit(int status) { (void)status; sv_park(); }
void __attribute__((noreturn)) sv_abort(void) { sv_park(); }

static struct sv_thread {
  int me;
  void *(*start)(void *);
  void *argument;
} sv_threads[1 + 64];

static void *sv_run(void *data) {
  struct sv_thread *thread = data;
  sv_me = thread->me;
  pthread_mutex_lock(&sv_mutex);
  sv_wait();
  pthread_mutex_unlock(&sv_mutex);
  void *result = thread->start(thread->argument);
  sv_end();
  return result;
}

int sv_pthread_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  pthread_t unused;
  int me = ++sv_created;
  if (me > 64)
    sv_lost("harness: there are too many threads\n");
  sv_threads[me] = (struct sv_thread){ me, start, argument };
  return pthread_create(handle ? handle : &unused, attributes, sv_run, &sv_threads[me]);
}

void __attribute__((noreturn)) sv_pthread_exit(void *result) {
  sv_end();
  pthread_exit(result);
}

/* A thread that waits may always wake up. */
int sv_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  (void)condition;
  pthread_mutex_unlock(mutex);
  if (SV_WAKING >= 0)
    sv_turn(SV_WAKING);
  return pthread_mutex_lock(mutex);
}

long long sv_input(void) {
  int number = sv_n_inputs++;
  for (int input = 0; input < SV_INPUTS; input++)
    if (sv_inputs[input].thread == sv_me && number-- == 0)
      return sv_inputs[input].value;
  return 0;
}

static __thread int sv_n_locals[SV_LOCALS + 1];

long long sv_local(int local) {
  int number = sv_n_locals[local]++;
  for (int value = 0; value < SV_LOCALS; value++)
    if (sv_locals[value].thread == sv_me && sv_locals[value].local == local && number-- == 0)
      return sv_locals[value].value;
  return 0;
}

int sv_rand(void) { return (int)sv_input(); }
long sv_random(void) { return (long)sv_input(); }
long sv_lrand48(void) { return (long)sv_input(); }
long sv_time(long *into) { (void)into; return (long)sv_input(); }
long sv_clock(void) { return (long)sv_input(); }
unsigned sv_sleep(unsigned seconds) { (void)seconds; return 0; }
int sv_usleep(unsigned time) { (void)time; return 0; }

int main(void) {
  alarm(20);
  if (SV_TURNS > 0 && sv_turns[0] != 0)
    sv_lost("harness: the execution does not begin with main\n");
  ((int (*)(int, char **))(void *)sv_main)(0, 0);
  sv_park();
}
