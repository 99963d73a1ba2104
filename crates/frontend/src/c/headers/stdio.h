#pragma once
#include <stdarg.h>
#include <stddef.h>
#include <selvedge/types.h>
typedef struct __selvedge_file FILE;
typedef long fpos_t;
extern FILE *stdin, *stdout, *stderr;
#define stdin stdin
#define stdout stdout
#define stderr stderr
#define EOF (-1)
#define BUFSIZ 8192
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define _IOFBF 0
#define _IOLBF 1
#define _IONBF 2
int printf(const char *format, ...);
int fprintf(FILE *file, const char *format, ...);
int dprintf(int file, const char *format, ...);
int sprintf(char *to, const char *format, ...);
int snprintf(char *to, size_t size, const char *format, ...);
int asprintf(char **to, const char *format, ...);
int vprintf(const char *format, va_list list);
int vfprintf(FILE *file, const char *format, va_list list);
int vsprintf(char *to, const char *format, va_list list);
int vsnprintf(char *to, size_t size, const char *format, va_list list);
int scanf(const char *format, ...);
int fscanf(FILE *file, const char *format, ...);
int sscanf(const char *text, const char *format, ...);
int puts(const char *text);
int putchar(int character);
int putc(int character, FILE *file);
int fputs(const char *text, FILE *file);
int fputc(int character, FILE *file);
int getchar(void);
int getc(FILE *file);
int fgetc(FILE *file);
char *fgets(char *to, int size, FILE *file);
int ungetc(int character, FILE *file);
void perror(const char *text);
FILE *fopen(const char *name, const char *mode);
FILE *fdopen(int file, const char *mode);
int fclose(FILE *file);
int fflush(FILE *file);
size_t fread(void *to, size_t size, size_t count, FILE *file);
size_t fwrite(const void *from, size_t size, size_t count, FILE *file);
int fseek(FILE *file, long offset, int whence);
long ftell(FILE *file);
void rewind(FILE *file);
int feof(FILE *file);
int ferror(FILE *file);
int fileno(FILE *file);
int remove(const char *name);
int rename(const char *from, const char *to);
int setvbuf(FILE *file, char *buffer, int mode, size_t size);
void setbuf(FILE *file, char *buffer);
