// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Effect of a stimulus on one counter: the events that it counts, and the arithmetic for many
 * events at once. Source: Intel SDM vol. 3, "Architectural Performance Monitoring"; AMD APM vol. 2,
 * "Large Increment per Cycle Events".
 */
#include "count.h"

static const u16 fixed_codes[REFPMU_MAX_FIXED] = {
	REFPMU_EVENT_INSTRUCTIONS,
	REFPMU_EVENT_CYCLES,
	REFPMU_EVENT_REF_CYCLES,
};

/* Return true for the two off-core codes, which count the same events. */
static bool is_offcore(u16 code)
{
	return code == REFPMU_EVENT_OFFCORE_0 || code == REFPMU_EVENT_OFFCORE_1;
}

/*
 * Return true if the load latency or off-core condition of @code, on a device that has them, is
 * met.
 */
static bool conditions_hold(const struct refpmu_change *c, u16 code,
			    const struct refpmu_origin *origin)
{
	const struct refpmu_recording *recording = refpmu_recording(c);

	if (!c->m->params.records)
		return true;
	if (code == REFPMU_EVENT_LOAD_LATENCY)
		return origin->latency > recording->ld_lat;
	if (is_offcore(code)) {
		const unsigned int i = code == REFPMU_EVENT_OFFCORE_1;

		return origin->response && !(origin->response & ~recording->offcore_rsp[i]);
	}
	return true;
}

static bool code_matches(const struct refpmu_change *c, u16 code,
			 const struct refpmu_occurrence *what)
{
	if (code == REFPMU_EVENT_MERGE)
		return false;
	if (code != what->code && code != what->other &&
	    !(c->m->params.records && is_offcore(code) && is_offcore(what->code)))
		return false;
	return conditions_hold(c, code, what->origin);
}

/* Return true if general counter @i is the even counter of a pair. */
static bool has_pair(const struct refpmu_change *c, unsigned int i)
{
	const u64 wanted = REFPMU_EVENT_MERGE | REFPMU_EVTSEL_EN;
	const u64 other = i + 1 < c->m->params.general ? refpmu_select(c)->evtsel[i + 1] : 0;

	return !(i & 1) && (other & (REFPMU_EVTSEL_CODE | REFPMU_EVTSEL_EN)) == wanted &&
	       refpmu_global(c)->ctrl & BIT_ULL(i + 1);
}

/* Return the increment of a counter with @evtsel in the cycle of a pulse and its idle cycle. */
static unsigned int pulse_gain(u64 evtsel, unsigned int occurrences)
{
	const unsigned int cmask = (evtsel & REFPMU_EVTSEL_CMASK) >> REFPMU_EVTSEL_CMASK_SHIFT;

	/*
	 * The two cycles have one edge, rising or falling, if the condition differs between them.
	 */
	if (evtsel & REFPMU_EVTSEL_EDGE)
		return occurrences >= (cmask ? cmask : 1);
	if (!cmask)
		return occurrences;
	if (evtsel & REFPMU_EVTSEL_INV)
		return 1 + (occurrences < cmask);
	return occurrences >= cmask;
}

/*
 * Get the clock divider of @code: it counts once every 1 << @shift ticks. Return false if the clock
 * does not drive @code.
 */
static bool clock_shift(u16 code, u8 *shift)
{
	switch (code) {
	case REFPMU_EVENT_CYCLES:
		*shift = 0;
		return true;
	case REFPMU_EVENT_INSTRUCTIONS:
		*shift = 1;
		return true;
	case REFPMU_EVENT_REF_CYCLES:
		*shift = 2;
		return true;
	default:
		return false;
	}
}

/* Find the ticks that a counter with @evtsel counts. Return false if it counts none. */
static bool clock_gain(struct refpmu_counter *counter, u64 evtsel)
{
	const unsigned int cmask = (evtsel & REFPMU_EVTSEL_CMASK) >> REFPMU_EVTSEL_CMASK_SHIFT;
	const bool inverse = evtsel & REFPMU_EVTSEL_INV;

	if (!clock_shift((u16)(evtsel & REFPMU_EVTSEL_CODE), &counter->shift))
		return false;
	counter->each = 1;
	if (evtsel & REFPMU_EVTSEL_EDGE) {
		/* If the condition is the same in every cycle, there is no edge. */
		if (cmask > 1 || !counter->shift)
			return false;
		/* The inverted condition has its rising edge one tick after each occurrence. */
		counter->late = inverse;
	} else if (cmask > 1) {
		if (!inverse)
			return false;
		counter->shift = 0;
	} else if (cmask && inverse) {
		if (!counter->shift)
			return false;
		counter->others = true;
	}
	return true;
}

static bool general_at(const struct refpmu_change *c, unsigned int i, u64 evtsel,
		       const struct refpmu_occurrence *what, struct refpmu_counter *counter)
{
	const u16 code = (u16)(evtsel & REFPMU_EVTSEL_CODE);
	unsigned int occurrences = what->occurrences;
	u64 rings = 0;

	rings |= evtsel & REFPMU_EVTSEL_USR ? BIT_ULL(REFPMU_USER) : 0;
	rings |= evtsel & REFPMU_EVTSEL_OS ? BIT_ULL(REFPMU_KERNEL) : 0;
	if (!(evtsel & REFPMU_EVTSEL_EN) || !(rings & what->rings))
		return false;
	*counter = (struct refpmu_counter){
		.index = (u8)i,
		.bit = (u8)i,
		.interrupts = evtsel & REFPMU_EVTSEL_INT,
	};
	if (what->clock)
		return clock_gain(counter, evtsel);
	if (!code_matches(c, code, what))
		return false;
	if (code == REFPMU_EVENT_WIDE && occurrences > REFPMU_WIDE_SINGLE && !has_pair(c, i))
		occurrences = REFPMU_WIDE_SINGLE;
	counter->each = (u8)pulse_gain(evtsel, occurrences);
	return counter->each != 0;
}

static bool fixed_at(const struct refpmu_change *c, unsigned int i, u64 ctrl,
		     const struct refpmu_occurrence *what, struct refpmu_counter *counter)
{
	u64 rings = 0;

	rings |= ctrl & REFPMU_FIXED_USR(i) ? BIT_ULL(REFPMU_USER) : 0;
	rings |= ctrl & REFPMU_FIXED_OS(i) ? BIT_ULL(REFPMU_KERNEL) : 0;
	if (!(rings & what->rings))
		return false;
	*counter = (struct refpmu_counter){
		.index = (u8)(c->m->params.general + i),
		.bit = (u8)(REFPMU_FIXED_SHIFT + i),
		.interrupts = ctrl & REFPMU_FIXED_PMI(i),
		.each = what->occurrences,
	};
	if (what->clock)
		return clock_gain(counter, fixed_codes[i]);
	return code_matches(c, fixed_codes[i], what);
}

unsigned int refpmu_counters_choose(const struct refpmu_change *c, u64 bits,
				    const struct refpmu_occurrence *what,
				    struct refpmu_counter counters[REFPMU_COUNTERS])
{
	const struct refpmu_select *select = refpmu_select(c);
	unsigned int n = 0;

	for (; bits; bits &= bits - 1) {
		const unsigned int bit = refpmu_lowest_bit(bits);
		const unsigned int i = bit & (REFPMU_FIXED_SHIFT - 1);

		if (bit == i)
			n += general_at(c, i, READ_ONCE(select->evtsel[i]), what, &counters[n]);
		else
			n += fixed_at(c, i, READ_ONCE(select->fixed_ctrl), what, &counters[n]);
	}
	return n;
}

u64 refpmu_counter_headroom(const struct refpmu_counter *counter, struct refpmu_clock_state now,
			    u64 value)
{
	const u64 events = refpmu_counter_capacity(counter, now.mask - (value & now.mask));
	const u64 below = refpmu_low_bits(counter->shift);
	/* ticks before the end of the current round */
	const u64 until = below - refpmu_counter_phase(counter, now);
	u64 rounds;

	/* Ticks before the one with the next event after @events; at most UNBOUNDED. */
	if (!counter->others) {
		if (events > REFPMU_UNBOUNDED >> counter->shift)
			return REFPMU_UNBOUNDED;
		return (events << counter->shift) + until;
	}
	if (events < until)
		return events;
	/*
	 * The end of the current round has no event, nor has the end of each complete round after
	 * it.
	 */
	rounds = 1 + (events - until) / below;
	return events > REFPMU_UNBOUNDED - rounds ? REFPMU_UNBOUNDED : events + rounds;
}

void refpmu_counter_count_reloads(const struct refpmu_counter *counter,
				  struct refpmu_clock_state now, u64 n, u64 reset, u64 *value)
{
	/* Pulses from one overflow to the next; 0 means more than a stimulus can have. */
	const u64 cycle = refpmu_counter_capacity(counter, now.mask - (reset & now.mask)) + 1;
	const u64 first = refpmu_counter_capacity(counter, now.mask - *value) + 1;
	u64 left = refpmu_counter_events(counter, now, n) - first;

	if (cycle)
		left %= cycle;
	*value = (reset + left * counter->each) & now.mask;
}
