// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Augmenting paths for wants of one counter, and a search over sets of pairs for wide ones. */
#include "matching.h"

static u64 bit(int counter)
{
	return counter == REFPMU_COUNTER_NONE ? 0 : BIT_ULL(counter);
}

static u64 pair(unsigned int even)
{
	return 3ULL << even;
}

static u64 options(const struct refpmu_matching *m, unsigned int want)
{
	return (int)want == m->trial ? m->trial_set : m->wants[want].allowed;
}

static bool stays(const struct refpmu_matching *m, unsigned int want)
{
	return bit(m->counter[want]) & m->locked;
}

u64 refpmu_matching_span(const struct refpmu_want *want, int counter)
{
	return bit(counter) | (want->wide ? bit(counter) << 1 : 0);
}

void refpmu_matching_put(struct refpmu_matching *m, unsigned int want, int counter)
{
	const u64 span = refpmu_matching_span(&m->wants[want], counter);

	m->counter[want] = (s8)counter;
	m->owner[counter] = (s8)want;
	m->used |= span;
	if (m->wants[want].wide)
		m->paired |= span;
}

void refpmu_matching_drop(struct refpmu_matching *m, unsigned int want)
{
	const u64 span = refpmu_matching_span(&m->wants[want], m->counter[want]);

	m->counter[want] = REFPMU_COUNTER_NONE;
	m->used &= ~span;
	m->paired &= ~span;
}

/*
 * Breadth first, over the shortest alternating path from @want to a free counter: everybody on it
 * moves on by one.
 */
static bool augment(struct refpmu_matching *m, unsigned int want, u64 first, u64 closed)
{
	u8 queue[REFPMU_MAX_COUNTERS]; /* wants whose counters are to be looked at */
	u8 taker[REFPMU_MAX_COUNTERS]; /* who would take this counter over */
	unsigned int head = 0, tail = 0, counter, w = want;
	u64 seen = closed;
	u64 reach = first & ~seen;

	while (!(reach & ~m->used)) {
		seen |= reach;
		while (reach) {
			counter = refpmu_lowest_bit(reach);
			reach &= reach - 1;
			taker[counter] = (u8)w;
			queue[tail++] = (u8)m->owner[counter];
		}
		if (head == tail)
			return false;
		w = queue[head++];
		reach = options(m, w) & ~seen;
	}

	counter = refpmu_lowest_bit(reach & ~m->used);
	m->used |= BIT_ULL(counter);
	/* Back along the path: each takes the new counter and leaves its old one to its taker. */
	for (;;) {
		const s8 old = m->counter[w];

		m->counter[w] = (s8)counter;
		m->owner[counter] = (s8)w;
		if (w == want)
			return true;
		counter = (unsigned int)old;
		w = taker[counter];
	}
}

bool refpmu_matching_place(struct refpmu_matching *m, unsigned int want, u64 first)
{
	return augment(m, want, first, m->locked | m->paired);
}

/* Lock the pair at @even for a wide want; false, and it is as before, if its owners need it. */
static bool reserve(struct refpmu_matching *m, unsigned int even)
{
	u64 left;

	m->locked |= pair(even);
	for (left = m->used & pair(even); left; left &= left - 1) {
		const unsigned int counter = refpmu_lowest_bit(left);
		const unsigned int owner = (unsigned int)m->owner[counter];

		refpmu_matching_drop(m, owner);
		if (refpmu_matching_place(m, owner, options(m, owner)))
			continue;
		refpmu_matching_put(m, owner, (int)counter);
		m->locked &= ~pair(even);
		return false;
	}
	return true;
}

/* The wide wants that are still to be placed. */
static u64 wide_wants(const struct refpmu_matching *m)
{
	u64 set = 0;
	unsigned int i;

	for (i = 0; i < m->n; i++) {
		if (m->wants[i].wide && m->counter[i] == REFPMU_COUNTER_NONE)
			set |= BIT_ULL(i);
	}
	return set;
}

static unsigned int size(u64 set)
{
	unsigned int n = 0;

	for (; set; set &= set - 1)
		n++;
	return n;
}

/* Match the wants @wide with the pairs @evens, as well as can be, in @m; how many got one. */
static unsigned int deal(struct refpmu_matching *m, u64 wide, u64 evens)
{
	unsigned int placed = 0;

	m->used = 0;
	for (; wide; wide &= wide - 1) {
		const unsigned int i = refpmu_lowest_bit(wide);

		placed += augment(m, i, options(m, i), ~evens);
	}
	return placed;
}

/* True if each of the pairs @evens can go to a want of its own of @wide. */
static bool useful(const struct refpmu_matching *m, u64 wide, u64 evens)
{
	struct refpmu_matching trial = *m;

	return deal(&trial, wide, evens) == size(evens);
}

/* True if the pairs at @a and @b are the same to every want that has not got its place for good. */
static bool alike(const struct refpmu_matching *m, unsigned int a, unsigned int b)
{
	unsigned int i;

	for (i = 0; i < m->n; i++) {
		const u64 mask = m->wants[i].wide ? 1 : 3;
		const u64 set = options(m, i);

		if (!stays(m, i) && (set >> a & mask) != (set >> b & mask))
			return false;
	}
	return true;
}

/* True if a pair like that at @even is among @evens. */
static bool one_alike(const struct refpmu_matching *m, unsigned int even, u64 evens)
{
	for (; evens; evens &= evens - 1) {
		if (alike(m, even, refpmu_lowest_bit(evens)))
			return true;
	}
	return false;
}

/* Pairs that @wide could have, as the set of their even counters. */
static u64 candidates(const struct refpmu_matching *m, u64 wide)
{
	u64 set = 0;

	for (; wide; wide &= wide - 1)
		set |= options(m, refpmu_lowest_bit(wide));
	return set & ~m->locked & ~(m->locked >> 1);
}

static unsigned int highest_bit(u64 set)
{
	unsigned int n = 0;

	while (set >>= 1)
		n++;
	return n;
}

/*
 * Lock pairs, as many as there are wants in @wide, that these can share out among them and that
 * the others, which have their counters, can do without; returns their even counters, or 0.
 * Depth first over sets of pairs, taken in ascending order. One that cannot be added, or was
 * tried to the end, speaks for all that are like it.
 */
static u64 search(struct refpmu_matching *m, u64 wide)
{
	const unsigned int wanted = size(wide);
	const u64 all = candidates(m, wide);
	u64 rest = all, taken = 0, out = 0;

	while (size(taken) < wanted) {
		unsigned int even;

		if (size(taken) + size(rest) < wanted) {
			if (!taken)
				return 0;
			even = highest_bit(taken);
			taken &= ~BIT_ULL(even);
			m->locked &= ~pair(even);
			out = (out & refpmu_low_bits(even)) | BIT_ULL(even);
			rest = all & ~refpmu_low_bits(even + 1);
			continue;
		}
		even = refpmu_lowest_bit(rest);
		rest &= rest - 1;
		if (!one_alike(m, even, out) && useful(m, wide, taken | BIT_ULL(even)) &&
		    reserve(m, even))
			taken |= BIT_ULL(even);
		else
			out |= BIT_ULL(even);
	}
	return taken;
}

/* Place the wants @wide, which have none, beside the others, which have theirs. */
static bool place_wide(struct refpmu_matching *m, u64 wide)
{
	const u64 evens = search(m, wide);
	struct refpmu_matching trial;
	u64 left;

	if (!evens)
		return false;
	trial = *m;
	deal(&trial, wide, evens);
	for (left = evens; left; left &= left - 1)
		m->locked &= ~pair(refpmu_lowest_bit(left));
	for (; wide; wide &= wide - 1) {
		const unsigned int i = refpmu_lowest_bit(wide);

		refpmu_matching_put(m, i, trial.counter[i]);
	}
	return true;
}

bool refpmu_matching_fill(struct refpmu_matching *m)
{
	unsigned int i;
	u64 wide;

	for (i = 0; i < m->n; i++) {
		if (!m->wants[i].wide && m->counter[i] == REFPMU_COUNTER_NONE &&
		    !refpmu_matching_place(m, i, options(m, i)))
			return false;
	}
	wide = wide_wants(m);
	return !wide || place_wide(m, wide);
}

bool refpmu_matching_refill(struct refpmu_matching *m)
{
	struct refpmu_matching next = *m;
	unsigned int i;

	for (i = 0; i < next.n; i++) {
		if (!stays(&next, i))
			next.counter[i] = REFPMU_COUNTER_NONE;
	}
	next.used &= next.locked;
	next.paired &= next.locked;
	if (!refpmu_matching_fill(&next))
		return false;
	*m = next;
	return true;
}
