#pragma once
#include <string.h>
int strcasecmp(const char *one, const char *other);
int strncasecmp(const char *one, const char *other, size_t size);
void bzero(void *to, size_t size);
