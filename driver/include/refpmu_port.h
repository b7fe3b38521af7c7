/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The only external header of core/ and model/: fixed-width types, errno values, bit helpers. */
#ifndef REFPMU_PORT_H
#define REFPMU_PORT_H

#ifdef __KERNEL__

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#else /* userspace: unit tests, fuzzers, benchmarks */

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int32_t s32;
typedef int64_t s64;

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define BIT_ULL(n) (1ULL << (n))
#define GENMASK_ULL(h, l) (((~0ULL) << (l)) & (~0ULL >> (63 - (h))))
/* Access once, and in program order for a signal handler on the same thread. */
#define READ_ONCE(x) \
	(__atomic_signal_fence(__ATOMIC_SEQ_CST), __atomic_load_n(&(x), __ATOMIC_RELAXED))
#define WRITE_ONCE(x, value) \
	(__atomic_signal_fence(__ATOMIC_SEQ_CST), __atomic_store_n(&(x), value, __ATOMIC_RELAXED))
#define cmpxchg64_local(p, old, new) __sync_val_compare_and_swap(p, old, new)

#endif

/* Return a mask of the low @n bits; @n is 0 to 64. */
static inline u64 refpmu_low_bits(unsigned int n)
{
	return n >= 64 ? ~0ULL : (1ULL << n) - 1;
}

/* Return the number of the lowest bit set in @bits, which is not 0. */
static inline unsigned int refpmu_lowest_bit(u64 bits)
{
#ifdef __KERNEL__
	return __ffs64(bits);
#else
	return (unsigned int)__builtin_ctzll(bits);
#endif
}

#endif /* REFPMU_PORT_H */
