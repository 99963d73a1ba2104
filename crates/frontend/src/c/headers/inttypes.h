#pragma once
#include <stdint.h>
#ifdef __LP64__
#define __SELVEDGE_64 "l"
#define __SELVEDGE_PTR "l"
#else
#define __SELVEDGE_64 "ll"
#define __SELVEDGE_PTR ""
#endif
#define PRId8 "d"
#define PRId16 "d"
#define PRId32 "d"
#define PRId64 __SELVEDGE_64 "d"
#define PRIi8 "i"
#define PRIi16 "i"
#define PRIi32 "i"
#define PRIi64 __SELVEDGE_64 "i"
#define PRIu8 "u"
#define PRIu16 "u"
#define PRIu32 "u"
#define PRIu64 __SELVEDGE_64 "u"
#define PRIx8 "x"
#define PRIx16 "x"
#define PRIx32 "x"
#define PRIx64 __SELVEDGE_64 "x"
#define PRIX32 "X"
#define PRIX64 __SELVEDGE_64 "X"
#define PRIo32 "o"
#define PRIo64 __SELVEDGE_64 "o"
#define PRIdPTR __SELVEDGE_PTR "d"
#define PRIuPTR __SELVEDGE_PTR "u"
#define PRIxPTR __SELVEDGE_PTR "x"
#define PRIdMAX __SELVEDGE_64 "d"
#define PRIuMAX __SELVEDGE_64 "u"
#define PRIxMAX __SELVEDGE_64 "x"
#define SCNd32 "d"
#define SCNd64 __SELVEDGE_64 "d"
#define SCNu32 "u"
#define SCNu64 __SELVEDGE_64 "u"
#define SCNx32 "x"
#define SCNx64 __SELVEDGE_64 "x"
intmax_t imaxabs(intmax_t value);
intmax_t strtoimax(const char *text, char **end, int base);
uintmax_t strtoumax(const char *text, char **end, int base);
