/* May be included several times: NDEBUG counts each time. */
#undef assert
#ifndef __SELVEDGE_ASSERT_H
#define __SELVEDGE_ASSERT_H
_Noreturn void __selvedge_assert_fail(const char *condition, const char *file, unsigned line);
#define static_assert _Static_assert
#endif
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __selvedge_assert_fail(#condition, __FILE__, __LINE__))
#endif
