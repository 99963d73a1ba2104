#pragma once
#include <stddef.h>
/* Types that several headers of POSIX share. */
typedef __INTPTR_TYPE__ ssize_t;
typedef long off_t;
typedef long time_t;
typedef long clock_t;
typedef long suseconds_t;
typedef unsigned useconds_t;
typedef int clockid_t;
typedef int pid_t;
typedef unsigned uid_t;
typedef unsigned gid_t;
typedef unsigned mode_t;
