/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Effect of a stimulus on one counter, in closed form. Private to the model. */
#ifndef REFPMU_MODEL_COUNT_H
#define REFPMU_MODEL_COUNT_H

#include "commit.h"

#define REFPMU_FIXED_SHIFT 32 /* bit of fixed counter 0 in the global registers */
#define REFPMU_COUNTERS (REFPMU_MAX_GENERAL + REFPMU_MAX_FIXED)

/* No limit: more than the number of pulses or ticks in a step. */
#define REFPMU_UNBOUNDED (~0ULL)

/* Set of all privileges. */
#define REFPMU_RINGS_ALL (BIT_ULL(REFPMU_USER) | BIT_ULL(REFPMU_KERNEL))

/* A stimulus: a number of clock ticks or of pulses. */
struct refpmu_occurrence {
	bool clock;
	u64 rings; /* privileges; several only when the clock predicts an overflow */
	/* Only for pulses: */
	u16 code;
	/* second code that the same occurrence counts as; equal to @code if there is none */
	u16 other;
	u8 occurrences; /* in the cycle of each pulse, up to REFPMU_WIDE_PAIR */
	const struct refpmu_origin *origin;
};

/* A counter that counts the stimulus. A step holds one for each counter, so the struct is small. */
struct refpmu_counter {
	u8 index; /* index of its value */
	u8 bit; /* its bit in the global registers */
	bool interrupts;
	/*
	 * Increment: @each for every pulse. For ticks, a round consists of 1 << @shift ticks. The
	 * increment is 1 at the last tick of a round, or with @others, at each of its other ticks.
	 * Rounds begin @late ticks later.
	 */
	u8 each;
	u8 shift;
	u8 late;
	bool others;
};

/* State of the clock before the stimulus, and the mask of a counter's value. */
struct refpmu_clock_state {
	u64 ticks;
	u64 mask;
};

/*
 * Find the counters in @bits (as in the global registers) that count the stimulus. Return their
 * number.
 */
unsigned int refpmu_counters_choose(const struct refpmu_change *c, u64 bits,
				    const struct refpmu_occurrence *what,
				    struct refpmu_counter counters[REFPMU_COUNTERS]);

/* Return the number of ticks of the current round that have elapsed. */
static inline u64 refpmu_counter_phase(const struct refpmu_counter *counter,
				       struct refpmu_clock_state now)
{
	return (now.ticks - counter->late) & refpmu_low_bits(counter->shift);
}

/* Return the events in the next @n pulses or ticks. The sums cannot overflow. */
static inline u64 refpmu_counter_events(const struct refpmu_counter *counter,
					struct refpmu_clock_state now, u64 n)
{
	const u64 left = n & refpmu_low_bits(counter->shift);
	const u64 multiples = (n >> counter->shift) +
			      ((left + refpmu_counter_phase(counter, now)) >> counter->shift);

	return counter->others ? n - multiples : multiples;
}

/* Return the number of events that a counter can count if its value is @room below the maximum. */
static inline u64 refpmu_counter_capacity(const struct refpmu_counter *counter, u64 room)
{
	return counter->each == 1 ? room : room / counter->each;
}

/* Return the number of pulses or ticks that do not overflow the counter at @value. */
u64 refpmu_counter_headroom(const struct refpmu_counter *counter, struct refpmu_clock_state now,
			    u64 value);

/* Count @n pulses or ticks in @value. Return true if it overflows. */
static inline bool refpmu_counter_count(const struct refpmu_counter *counter,
					struct refpmu_clock_state now, u64 n, u64 *value)
{
	const u64 events = refpmu_counter_events(counter, now, n);
	const bool overflows = events > refpmu_counter_capacity(counter, now.mask - *value);

	*value = (*value + events * counter->each) & now.mask;
	return overflows;
}

/* Count @n pulses or ticks that overflow the counter, if each overflow reloads it with @reset. */
void refpmu_counter_count_reloads(const struct refpmu_counter *counter,
				  struct refpmu_clock_state now, u64 n, u64 reset, u64 *value);

/* Return the bits of all counters in the global registers. */
static inline u64 refpmu_counter_bits(const struct refpmu_model *m)
{
	return refpmu_low_bits(m->params.general) |
	       refpmu_low_bits(m->params.fixed) << REFPMU_FIXED_SHIFT;
}

#endif /* REFPMU_MODEL_COUNT_H */
