// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * What one counter does in a stimulus: which events it takes in, and the arithmetic of many of them
 * at once.
 * Source: Intel SDM vol. 3, "Architectural Performance Monitoring"; AMD APM vol. 2, "Large
 * Increment per Cycle Events".
 */
#include "count.h"

static const u16 fixed_codes[REFPMU_MAX_FIXED] = {
	REFPMU_EVENT_INSTRUCTIONS,
	REFPMU_EVENT_CYCLES,
	REFPMU_EVENT_REF_CYCLES,
};

/* The one occurrence that the two off-core codes look at. */
static bool is_offcore(u16 code)
{
	return code == REFPMU_EVENT_OFFCORE_0 || code == REFPMU_EVENT_OFFCORE_1;
}

/* True if the conditions beside the code, on a device that has them, let @code count. */
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
			 const struct refpmu_happening *what)
{
	if (code == REFPMU_EVENT_MERGE)
		return false;
	if (code != what->code && code != what->other &&
	    !(c->m->params.records && is_offcore(code) && is_offcore(what->code)))
		return false;
	return conditions_hold(c, code, what->origin);
}

/* True if general counter @i is the even one of a pair. */
static bool has_pair(const struct refpmu_change *c, unsigned int i)
{
	const u64 wanted = REFPMU_EVENT_MERGE | REFPMU_EVTSEL_EN;
	const u64 other = i + 1 < c->m->params.general ? refpmu_select(c)->evtsel[i + 1] : 0;

	return !(i & 1) && (other & (REFPMU_EVTSEL_CODE | REFPMU_EVTSEL_EN)) == wanted &&
	       refpmu_global(c)->ctrl & BIT_ULL(i + 1);
}

/* What a counter that selects @evtsel gains in the cycle of a pulse and the idle one after it. */
static u64 pulse_gain(u64 evtsel, unsigned int occurrences)
{
	const unsigned int cmask = (evtsel & REFPMU_EVTSEL_CMASK) >> REFPMU_EVTSEL_CMASK_SHIFT;

	/* One edge in the two cycles, up or down, if the condition differs in them. */
	if (evtsel & REFPMU_EVTSEL_EDGE)
		return occurrences >= (cmask ? cmask : 1);
	if (!cmask)
		return occurrences;
	if (evtsel & REFPMU_EVTSEL_INV)
		return 1 + (occurrences < cmask);
	return occurrences >= cmask;
}

/* The clock drives @code once every 1 << @shift ticks. */
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

/* Which ticks a counter that selects @evtsel takes in; false for none. */
static bool clock_gain(struct refpmu_counter *counter, u64 evtsel, u64 ticks)
{
	const unsigned int cmask = (evtsel & REFPMU_EVTSEL_CMASK) >> REFPMU_EVTSEL_CMASK_SHIFT;
	const bool inverse = evtsel & REFPMU_EVTSEL_INV;

	if (!clock_shift((u16)(evtsel & REFPMU_EVTSEL_CODE), &counter->shift))
		return false;
	counter->each = 1;
	counter->others = false;
	if (evtsel & REFPMU_EVTSEL_EDGE) {
		/* Nothing rises where every cycle is alike. */
		if (cmask > 1 || !counter->shift)
			return false;
		/* The inverse rises one tick after each occurrence. */
		ticks -= inverse;
	} else if (cmask > 1) {
		if (!inverse)
			return false;
		counter->shift = 0;
	} else if (cmask && inverse) {
		if (!counter->shift)
			return false;
		counter->others = true;
	}
	counter->phase = ticks & refpmu_low_bits(counter->shift);
	return true;
}

static bool general_at(const struct refpmu_change *c, unsigned int i,
		       const struct refpmu_happening *what, struct refpmu_counter *counter)
{
	const u64 evtsel = refpmu_select(c)->evtsel[i];
	const u16 code = (u16)(evtsel & REFPMU_EVTSEL_CODE);
	unsigned int occurrences = what->occurrences;
	u64 rings = 0;

	rings |= evtsel & REFPMU_EVTSEL_USR ? BIT_ULL(REFPMU_USER) : 0;
	rings |= evtsel & REFPMU_EVTSEL_OS ? BIT_ULL(REFPMU_KERNEL) : 0;
	if (!(evtsel & REFPMU_EVTSEL_EN) || !(rings & what->rings))
		return false;
	counter->status = BIT_ULL(i);
	counter->reset = i;
	counter->interrupts = evtsel & REFPMU_EVTSEL_INT;
	if (what->clock)
		return clock_gain(counter, evtsel, refpmu_global(c)->ticks);
	if (!code_matches(c, code, what))
		return false;
	if (code == REFPMU_EVENT_WIDE && occurrences > REFPMU_WIDE_SINGLE && !has_pair(c, i))
		occurrences = REFPMU_WIDE_SINGLE;
	counter->each = pulse_gain(evtsel, occurrences);
	return counter->each != 0;
}

static bool fixed_at(const struct refpmu_change *c, unsigned int i,
		     const struct refpmu_happening *what, struct refpmu_counter *counter)
{
	const u64 ctrl = refpmu_select(c)->fixed_ctrl;
	u64 rings = 0;

	rings |= ctrl & REFPMU_FIXED_USR(i) ? BIT_ULL(REFPMU_USER) : 0;
	rings |= ctrl & REFPMU_FIXED_OS(i) ? BIT_ULL(REFPMU_KERNEL) : 0;
	if (!(rings & what->rings))
		return false;
	counter->status = BIT_ULL(REFPMU_FIXED_SHIFT + i);
	counter->reset = REFPMU_MAX_GENERAL + i;
	counter->interrupts = ctrl & REFPMU_FIXED_PMI(i);
	if (what->clock)
		return clock_gain(counter, fixed_codes[i], refpmu_global(c)->ticks);
	if (!code_matches(c, fixed_codes[i], what))
		return false;
	counter->each = what->occurrences;
	return true;
}

bool refpmu_counter_at(const struct refpmu_change *c, unsigned int i,
		       const struct refpmu_happening *what, struct refpmu_counter *counter)
{
	const unsigned int general = c->m->params.general;

	counter->value = &refpmu_count(c)->value[i];
	counter->shift = 0;
	counter->phase = 0;
	counter->others = false;
	return i < general ? general_at(c, i, what, counter) :
			     fixed_at(c, i - general, what, counter);
}

/* Ticks before the one that brings the event that comes after @events others; at most UNBOUNDED. */
static u64 ticks_before(const struct refpmu_counter *counter, u64 events)
{
	const u64 below = refpmu_low_bits(counter->shift);
	const u64 until = below - counter->phase; /* ticks before the first that is a multiple */
	u64 multiples;

	if (!counter->others) {
		if (events > REFPMU_UNBOUNDED >> counter->shift)
			return REFPMU_UNBOUNDED;
		return (events << counter->shift) + until;
	}
	if (events < until)
		return events;
	/* One multiple, and one more whenever all ticks between two of them have passed. */
	multiples = 1 + (events - until) / below;
	return events > REFPMU_UNBOUNDED - multiples ? REFPMU_UNBOUNDED : events + multiples;
}

/* Events in the next @n ticks; no sum here can wrap. */
static u64 ticked(const struct refpmu_counter *counter, u64 n)
{
	const u64 below = refpmu_low_bits(counter->shift);
	const u64 multiples =
		(n >> counter->shift) + (((n & below) + counter->phase) >> counter->shift);

	return counter->others ? n - multiples : multiples;
}

/* Pulses that a counter takes that is @room below its top. */
static u64 fitting(const struct refpmu_counter *counter, u64 room)
{
	return counter->each == 1 ? room : room / counter->each;
}

u64 refpmu_counter_room(const struct refpmu_counter *counter, u64 mask)
{
	return ticks_before(counter, fitting(counter, mask - (*counter->value & mask)));
}

void refpmu_counter_count(const struct refpmu_counter *counter, u64 mask, u64 n)
{
	*counter->value = (*counter->value + ticked(counter, n) * counter->each) & mask;
}

void refpmu_counter_cycle(const struct refpmu_counter *counter, u64 mask, u64 n, u64 reset)
{
	/* Pulses from one overflow to the next; 0 means more than can be asked for. */
	const u64 cycle = fitting(counter, mask - (reset & mask)) + 1;
	u64 left = ticked(counter, n) - fitting(counter, mask - *counter->value) - 1;

	if (cycle)
		left %= cycle;
	*counter->value = (reset + left * counter->each) & mask;
}
