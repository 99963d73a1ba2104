/* The macros that are defined before the first line of every program. */
#define __STDC__ 1
#define __STDC_HOSTED__ 1
#define __STDC_VERSION__ 201710L
#define __STDC_UTF_16__ 1
#define __STDC_UTF_32__ 1
#define __DATE__ "Jan  1 1970"
#define __TIME__ "00:00:00"
#define __SELVEDGE__ 1
#define __GNUC__ 12
#define __GNUC_MINOR__ 2
#define __GNUC_PATCHLEVEL__ 0
#define __GNUC_STDC_INLINE__ 1
#define __VERSION__ "12.2.0"
#define __NO_INLINE__ 1
#define __ELF__ 1
#define __linux 1
#define __linux__ 1
#define __gnu_linux__ 1
#define linux 1
#define __unix 1
#define __unix__ 1
#define unix 1
#define __CHAR_BIT__ 8
#define __ORDER_LITTLE_ENDIAN__ 1234
#define __ORDER_BIG_ENDIAN__ 4321
#define __ORDER_PDP_ENDIAN__ 3412
#define __BYTE_ORDER__ __ORDER_LITTLE_ENDIAN__
#define __FLOAT_WORD_ORDER__ __ORDER_LITTLE_ENDIAN__
#define __BIGGEST_ALIGNMENT__ 16
#define __ATOMIC_RELAXED 0
#define __ATOMIC_CONSUME 1
#define __ATOMIC_ACQUIRE 2
#define __ATOMIC_RELEASE 3
#define __ATOMIC_ACQ_REL 4
#define __ATOMIC_SEQ_CST 5
#define __GCC_ATOMIC_BOOL_LOCK_FREE 2
#define __GCC_ATOMIC_CHAR_LOCK_FREE 2
#define __GCC_ATOMIC_CHAR16_T_LOCK_FREE 2
#define __GCC_ATOMIC_CHAR32_T_LOCK_FREE 2
#define __GCC_ATOMIC_WCHAR_T_LOCK_FREE 2
#define __GCC_ATOMIC_SHORT_LOCK_FREE 2
#define __GCC_ATOMIC_INT_LOCK_FREE 2
#define __GCC_ATOMIC_LONG_LOCK_FREE 2
#define __GCC_ATOMIC_LLONG_LOCK_FREE 2
#define __GCC_ATOMIC_POINTER_LOCK_FREE 2
#define __GCC_HAVE_SYNC_COMPARE_AND_SWAP_1 1
#define __GCC_HAVE_SYNC_COMPARE_AND_SWAP_2 1
#define __GCC_HAVE_SYNC_COMPARE_AND_SWAP_4 1
#define __GCC_HAVE_SYNC_COMPARE_AND_SWAP_8 1
#define __SCHAR_MAX__ 0x7f
#define __SHRT_MAX__ 0x7fff
#define __INT_MAX__ 0x7fffffff
#define __LONG_LONG_MAX__ 0x7fffffffffffffffLL
#define __SCHAR_WIDTH__ 8
#define __SHRT_WIDTH__ 16
#define __INT_WIDTH__ 32
#define __LONG_LONG_WIDTH__ 64
#define __SIZEOF_SHORT__ 2
#define __SIZEOF_INT__ 4
#define __SIZEOF_LONG_LONG__ 8
#define __SIZEOF_FLOAT__ 4
#define __SIZEOF_DOUBLE__ 8
#define __SIZEOF_WCHAR_T__ 4
#define __SIZEOF_WINT_T__ 4
#define __CHAR16_TYPE__ short unsigned int
#define __CHAR32_TYPE__ unsigned int
#define __WINT_TYPE__ unsigned int
#define __INT8_TYPE__ signed char
#define __INT16_TYPE__ short int
#define __INT32_TYPE__ int
#define __UINT8_TYPE__ unsigned char
#define __UINT16_TYPE__ short unsigned int
#define __UINT32_TYPE__ unsigned int
#define __INT8_MAX__ 0x7f
#define __INT16_MAX__ 0x7fff
#define __INT32_MAX__ 0x7fffffff
#define __UINT8_MAX__ 0xff
#define __UINT16_MAX__ 0xffff
#define __UINT32_MAX__ 0xffffffffU
#define __SIG_ATOMIC_TYPE__ int
#ifdef __SELVEDGE_LP64__
#define _LP64 1
#define __LP64__ 1
#define __x86_64 1
#define __x86_64__ 1
#define __amd64 1
#define __amd64__ 1
#define __SIZEOF_INT128__ 16
#define __SIZEOF_LONG__ 8
#define __SIZEOF_POINTER__ 8
#define __SIZEOF_PTRDIFF_T__ 8
#define __SIZEOF_SIZE_T__ 8
#define __SIZEOF_LONG_DOUBLE__ 16
#define __LONG_MAX__ 0x7fffffffffffffffL
#define __LONG_WIDTH__ 64
#define __SIZE_TYPE__ long unsigned int
#define __SIZE_MAX__ 0xffffffffffffffffUL
#define __PTRDIFF_TYPE__ long int
#define __PTRDIFF_MAX__ 0x7fffffffffffffffL
#define __WCHAR_TYPE__ int
#define __WCHAR_MAX__ 0x7fffffff
#define __INT64_TYPE__ long int
#define __UINT64_TYPE__ long unsigned int
#define __INT64_MAX__ 0x7fffffffffffffffL
#define __UINT64_MAX__ 0xffffffffffffffffUL
#define __INT64_C(c) c##L
#define __UINT64_C(c) c##UL
#define __INTPTR_TYPE__ long int
#define __UINTPTR_TYPE__ long unsigned int
#define __INTPTR_MAX__ 0x7fffffffffffffffL
#define __UINTPTR_MAX__ 0xffffffffffffffffUL
#define __INT_FAST16_TYPE__ long int
#define __UINT_FAST16_TYPE__ long unsigned int
#else
#define _ILP32 1
#define __ILP32__ 1
#define __i386 1
#define __i386__ 1
#define i386 1
#define __SIZEOF_LONG__ 4
#define __SIZEOF_POINTER__ 4
#define __SIZEOF_PTRDIFF_T__ 4
#define __SIZEOF_SIZE_T__ 4
#define __SIZEOF_LONG_DOUBLE__ 12
#define __LONG_MAX__ 0x7fffffffL
#define __LONG_WIDTH__ 32
#define __SIZE_TYPE__ unsigned int
#define __SIZE_MAX__ 0xffffffffU
#define __PTRDIFF_TYPE__ int
#define __PTRDIFF_MAX__ 0x7fffffff
#define __WCHAR_TYPE__ long int
#define __WCHAR_MAX__ 0x7fffffffL
#define __INT64_TYPE__ long long int
#define __UINT64_TYPE__ long long unsigned int
#define __INT64_MAX__ 0x7fffffffffffffffLL
#define __UINT64_MAX__ 0xffffffffffffffffULL
#define __INT64_C(c) c##LL
#define __UINT64_C(c) c##ULL
#define __INTPTR_TYPE__ int
#define __UINTPTR_TYPE__ unsigned int
#define __INTPTR_MAX__ 0x7fffffff
#define __UINTPTR_MAX__ 0xffffffffU
#define __INT_FAST16_TYPE__ int
#define __UINT_FAST16_TYPE__ unsigned int
#endif
#define __INTMAX_TYPE__ __INT64_TYPE__
#define __UINTMAX_TYPE__ __UINT64_TYPE__
#define __INTMAX_MAX__ __INT64_MAX__
#define __UINTMAX_MAX__ __UINT64_MAX__
#define __INTMAX_C(c) __INT64_C(c)
#define __UINTMAX_C(c) __UINT64_C(c)
