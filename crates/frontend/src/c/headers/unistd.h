#pragma once
#include <stddef.h>
#include <selvedge/types.h>
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define _SC_PAGESIZE 30
#define _SC_NPROCESSORS_CONF 83
#define _SC_NPROCESSORS_ONLN 84
unsigned sleep(unsigned seconds);
int usleep(useconds_t microseconds);
int pause(void);
unsigned alarm(unsigned seconds);
pid_t getpid(void);
pid_t getppid(void);
pid_t fork(void);
_Noreturn void _exit(int status);
ssize_t read(int file, void *to, size_t size);
ssize_t write(int file, const void *from, size_t size);
int close(int file);
int pipe(int files[2]);
int dup(int file);
int dup2(int from, int to);
off_t lseek(int file, off_t offset, int whence);
int truncate(const char *name, off_t length);
int ftruncate(int file, off_t length);
int unlink(const char *name);
int access(const char *name, int mode);
int isatty(int file);
char *getcwd(char *to, size_t size);
int chdir(const char *name);
long sysconf(int name);
int getopt(int count, char *const arguments[], const char *options);
extern char *optarg;
extern int optind, opterr, optopt;
