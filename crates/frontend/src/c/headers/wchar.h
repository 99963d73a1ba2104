#pragma once
#include <stddef.h>
typedef unsigned wint_t;
#define WEOF ((wint_t)-1)
#define WCHAR_MAX __WCHAR_MAX__
#define WCHAR_MIN (-__WCHAR_MAX__ - 1)
size_t wcslen(const wchar_t *text);
wchar_t *wcscpy(wchar_t *to, const wchar_t *from);
int wcscmp(const wchar_t *one, const wchar_t *other);
wchar_t *wmemset(wchar_t *to, wchar_t value, size_t size);
wchar_t *wmemcpy(wchar_t *to, const wchar_t *from, size_t size);
int wprintf(const wchar_t *format, ...);
