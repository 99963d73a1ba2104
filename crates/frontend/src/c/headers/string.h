#pragma once
#include <stddef.h>
void *memset(void *to, int value, size_t size);
void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
int memcmp(const void *one, const void *other, size_t size);
void *memchr(const void *from, int value, size_t size);
size_t strlen(const char *text);
size_t strnlen(const char *text, size_t size);
char *strcpy(char *restrict to, const char *restrict from);
char *strncpy(char *restrict to, const char *restrict from, size_t size);
char *strcat(char *restrict to, const char *restrict from);
char *strncat(char *restrict to, const char *restrict from, size_t size);
int strcmp(const char *one, const char *other);
int strncmp(const char *one, const char *other, size_t size);
char *strchr(const char *text, int character);
char *strrchr(const char *text, int character);
char *strstr(const char *text, const char *part);
char *strpbrk(const char *text, const char *set);
size_t strspn(const char *text, const char *set);
size_t strcspn(const char *text, const char *set);
char *strtok(char *restrict text, const char *restrict set);
char *strtok_r(char *restrict text, const char *restrict set, char **restrict rest);
char *strdup(const char *text);
char *strndup(const char *text, size_t size);
char *strerror(int number);
int strerror_r(int number, char *to, size_t size);
