/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* What one counter does in a stimulus, in closed form. Private. */
#ifndef REFPMU_MODEL_COUNT_H
#define REFPMU_MODEL_COUNT_H

#include "commit.h"

#define REFPMU_FIXED_SHIFT 32 /* of the fixed counters in the global registers */
#define REFPMU_COUNTERS (REFPMU_MAX_GENERAL + REFPMU_MAX_FIXED)

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

/* A counter that counts what happens. Small: a step keeps one for each. */
struct refpmu_counter {
	u8 index; /* of its value */
	u8 bit; /* in the global registers */
	bool interrupts;
	/*
	 * It gains @each with every pulse; or 1 with every tick that ends a round of 1 << @shift of
	 * them, or, with @others, with every tick that does not. Rounds are @late ticks late.
	 */
	u8 each;
	u8 shift;
	u8 late;
	bool others;
};

/* When it counts, and how far: the clock before, and what is all ones in it. */
struct refpmu_moment {
	u64 ticks;
	u64 mask;
};

/*
 * Of the counters @bits (as in the global registers) those that what happens makes count; returns
 * how many.
 */
unsigned int refpmu_counters_choose(const struct refpmu_change *c, u64 bits,
				    const struct refpmu_happening *what,
				    struct refpmu_counter counters[REFPMU_COUNTERS]);

/* Ticks of a round that are over. */
static inline u64 refpmu_counter_phase(const struct refpmu_counter *counter,
				       struct refpmu_moment now)
{
	return (now.ticks - counter->late) & refpmu_low_bits(counter->shift);
}

/* Events in the next @n pulses or ticks; no sum here can wrap. */
static inline u64 refpmu_counter_events(const struct refpmu_counter *counter,
					struct refpmu_moment now, u64 n)
{
	const u64 left = n & refpmu_low_bits(counter->shift);
	const u64 multiples = (n >> counter->shift) +
			      ((left + refpmu_counter_phase(counter, now)) >> counter->shift);

	return counter->others ? n - multiples : multiples;
}

/* Events that a counter takes that is @room below its top. */
static inline u64 refpmu_counter_fit(const struct refpmu_counter *counter, u64 room)
{
	return counter->each == 1 ? room : room / counter->each;
}

/* How many pulses, or ticks, it takes without overflow when it holds @value. */
u64 refpmu_counter_room(const struct refpmu_counter *counter, struct refpmu_moment now, u64 value);

/* Let @n pulses, or ticks, happen to @value; true if it overflows. */
static inline bool refpmu_counter_count(const struct refpmu_counter *counter,
					struct refpmu_moment now, u64 n, u64 *value)
{
	const u64 events = refpmu_counter_events(counter, now, n);
	const bool overflows = events > refpmu_counter_fit(counter, now.mask - *value);

	*value = (*value + events * counter->each) & now.mask;
	return overflows;
}

/* The same for @n that do overflow it, if each overflow makes it go on from @reset. */
void refpmu_counter_cycle(const struct refpmu_counter *counter, struct refpmu_moment now, u64 n,
			  u64 reset, u64 *value);

/* Bits of the global registers that stand for a counter. */
static inline u64 refpmu_counter_bits(const struct refpmu_model *m)
{
	return refpmu_low_bits(m->params.general) |
	       refpmu_low_bits(m->params.fixed) << REFPMU_FIXED_SHIFT;
}

#endif /* REFPMU_MODEL_COUNT_H */
