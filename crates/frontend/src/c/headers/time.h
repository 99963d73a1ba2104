#pragma once
#include <stddef.h>
#include <selvedge/types.h>
struct timespec { time_t tv_sec; long tv_nsec; };
struct tm {
  int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
  long tm_gmtoff;
  const char *tm_zone;
};
#define CLOCKS_PER_SEC 1000000L
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define TIME_UTC 1
time_t time(time_t *result);
clock_t clock(void);
double difftime(time_t end, time_t begin);
time_t mktime(struct tm *parts);
struct tm *localtime(const time_t *when);
struct tm *gmtime(const time_t *when);
char *ctime(const time_t *when);
char *asctime(const struct tm *parts);
size_t strftime(char *to, size_t size, const char *format, const struct tm *parts);
int nanosleep(const struct timespec *duration, struct timespec *rest);
int clock_gettime(clockid_t clock, struct timespec *result);
int timespec_get(struct timespec *result, int base);
