/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* What one counter does in a stimulus, in closed form. Private. */
#ifndef REFPMU_MODEL_COUNT_H
#define REFPMU_MODEL_COUNT_H

#include "commit.h"

#define REFPMU_FIXED_SHIFT 32 /* of the fixed counters in the global registers */

/* No limit: more pulses, or ticks, than a step can ask for. */
#define REFPMU_UNBOUNDED (~0ULL)

/* Sets of privileges. */
#define REFPMU_RINGS_ALL (BIT_ULL(REFPMU_USER) | BIT_ULL(REFPMU_KERNEL))

/* What happens, over and over: ticks of the clock, or pulses. */
struct refpmu_happening {
	bool clock;
	u64 rings; /* privileges; more than one only for the clock that is asked about its future */
	/* Of pulses: */
	u16 code;
	u16 other; /* a second code of the same occurrence; equal to @code if there is none */
	u8 occurrences; /* in the cycle of each, up to REFPMU_WIDE_PAIR */
	const struct refpmu_origin *origin;
};

/* A counter that counts what happens. */
struct refpmu_counter {
	u64 *value;
	u64 status; /* its bit in GLOBAL_STATUS */
	unsigned int reset; /* its index in the resets of the DS area */
	bool interrupts;
	/*
	 * It gains @each with every pulse; or 1 with every tick that ends a round of 1 << @shift of
	 * them, or, with @others, with every tick that does not. @phase ticks of a round are over.
	 */
	u64 each;
	u64 phase;
	u8 shift;
	bool others;
};

/*
 * Counter @i (0 the first general one; the fixed ones follow) under what happens; false if that
 * does not make it count.
 */
bool refpmu_counter_at(const struct refpmu_change *c, unsigned int i,
		       const struct refpmu_happening *what, struct refpmu_counter *counter);

/* How many pulses, or ticks, it takes without overflow. */
u64 refpmu_counter_room(const struct refpmu_counter *counter, u64 mask);

/* Let @n pulses, or ticks, happen; it wraps at @mask. */
void refpmu_counter_count(const struct refpmu_counter *counter, u64 mask, u64 n);

/* The same for @n that do overflow it, if each overflow makes it go on from @reset. */
void refpmu_counter_cycle(const struct refpmu_counter *counter, u64 mask, u64 n, u64 reset);

/* Index of the counter whose bit in the global registers is @bit. */
static inline unsigned int refpmu_counter_index(const struct refpmu_model *m, unsigned int bit)
{
	return bit < REFPMU_FIXED_SHIFT ? bit : m->params.general + (bit - REFPMU_FIXED_SHIFT);
}

/* Bits of the global registers that stand for a counter. */
static inline u64 refpmu_counter_bits(const struct refpmu_model *m)
{
	return refpmu_low_bits(m->params.general) |
	       refpmu_low_bits(m->params.fixed) << REFPMU_FIXED_SHIFT;
}

#endif /* REFPMU_MODEL_COUNT_H */
