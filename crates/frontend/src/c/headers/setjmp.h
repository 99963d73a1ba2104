#pragma once
typedef struct { long __registers[8]; } jmp_buf[1];
int setjmp(jmp_buf buffer);
_Noreturn void longjmp(jmp_buf buffer, int value);
