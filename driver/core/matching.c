// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Augmenting paths place wants of one counter. A search over sets of pairs places wide wants. */
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

static bool is_locked(const struct refpmu_matching *m, unsigned int want)
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
 * Give @want a counter of @first, without using the counters in @closed. Breadth-first search finds
 * the shortest alternating path from @want to a free counter. Each want on the path then moves by
 * one step.
 */
static bool augment(struct refpmu_matching *m, unsigned int want, u64 first, u64 closed)
{
	u8 queue[REFPMU_MAX_COUNTERS]; /* wants whose counters the search has yet to visit */
	u8 taker[REFPMU_MAX_COUNTERS]; /* want that would get this counter */
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
	/*
	 * Walk the path back: each want takes the new counter and leaves its old one to its taker.
	 */
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

/*
 * Free the pair at @even and lock it for a wide want. Return false, with @m unchanged, if an owner
 * of one of its counters finds no other counter.
 */
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

/* Return the set of wide wants that have no counters yet. */
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

static unsigned int count_bits(u64 set)
{
	unsigned int n = 0;

	for (; set; set &= set - 1)
		n++;
	return n;
}

/* Match as many wants of @wide as possible to the pairs @evens. Return the number of matches. */
static unsigned int match_pairs(struct refpmu_matching *m, u64 wide, u64 evens)
{
	unsigned int placed = 0;

	m->used = 0;
	for (; wide; wide &= wide - 1) {
		const unsigned int i = refpmu_lowest_bit(wide);

		placed += augment(m, i, options(m, i), ~evens);
	}
	return placed;
}

/* Return true if each of the pairs @evens can be given to a different want of @wide. */
static bool all_matched(const struct refpmu_matching *m, u64 wide, u64 evens)
{
	struct refpmu_matching trial = *m;

	return match_pairs(&trial, wide, evens) == count_bits(evens);
}

/* Return true if no want that can still move distinguishes the pair at @a from that at @b. */
static bool equivalent(const struct refpmu_matching *m, unsigned int a, unsigned int b)
{
	unsigned int i;

	for (i = 0; i < m->n; i++) {
		const u64 mask = m->wants[i].wide ? 1 : 3;
		const u64 set = options(m, i);

		if (!is_locked(m, i) && (set >> a & mask) != (set >> b & mask))
			return false;
	}
	return true;
}

/* Return true if @evens contains a pair that is equivalent to the one at @even. */
static bool has_equivalent(const struct refpmu_matching *m, unsigned int even, u64 evens)
{
	for (; evens; evens &= evens - 1) {
		if (equivalent(m, even, refpmu_lowest_bit(evens)))
			return true;
	}
	return false;
}

/* Return the pairs that wants of @wide allow, as the set of their even counters. */
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
 * Find and lock as many pairs as @wide has wants, such that each want gets a pair and all other
 * wants keep a counter. Return the even counters of the pairs, or 0 if that is impossible.
 *
 * The search is depth first, over sets of pairs in ascending order. A pair that cannot be added, or
 * whose subtree was searched, also excludes all equivalent pairs.
 */
static u64 search(struct refpmu_matching *m, u64 wide)
{
	const unsigned int wanted = count_bits(wide);
	const u64 all = candidates(m, wide);
	u64 rest = all, chosen = 0, out = 0;

	while (count_bits(chosen) < wanted) {
		unsigned int even;

		if (count_bits(chosen) + count_bits(rest) < wanted) {
			if (!chosen)
				return 0;
			even = highest_bit(chosen);
			chosen &= ~BIT_ULL(even);
			m->locked &= ~pair(even);
			out = (out & refpmu_low_bits(even)) | BIT_ULL(even);
			rest = all & ~refpmu_low_bits(even + 1);
			continue;
		}
		even = refpmu_lowest_bit(rest);
		rest &= rest - 1;
		if (!has_equivalent(m, even, out) && all_matched(m, wide, chosen | BIT_ULL(even)) &&
		    reserve(m, even))
			chosen |= BIT_ULL(even);
		else
			out |= BIT_ULL(even);
	}
	return chosen;
}

/* Place the wants @wide. All wants that are not wide have counters already. */
static bool place_wide(struct refpmu_matching *m, u64 wide)
{
	const u64 evens = search(m, wide);
	struct refpmu_matching trial;
	u64 left;

	if (!evens)
		return false;
	trial = *m;
	match_pairs(&trial, wide, evens);
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
		if (!is_locked(&next, i))
			next.counter[i] = REFPMU_COUNTER_NONE;
	}
	next.used &= next.locked;
	next.paired &= next.locked;
	if (!refpmu_matching_fill(&next))
		return false;
	*m = next;
	return true;
}
