// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Which counter counts which event: finds a fit whenever there is one. */
#include "constraint.h"

#include "config.h"

#define NOBODY (-1)

/* A partial assignment, seen from both sides. */
struct matching {
	const struct refpmu_want *wants;
	s8 counter[REFPMU_MAX_COUNTERS]; /* of a want, or REFPMU_COUNTER_NONE */
	s8 owner[REFPMU_MAX_COUNTERS]; /* of a counter: a want, or NOBODY */
	u64 used; /* counters with an owner */
	u64 locked; /* counters whose owner stays */
};

static u64 one_counter(s8 counter)
{
	return counter >= 0 && counter < REFPMU_MAX_COUNTERS ? BIT_ULL(counter) : 0;
}

/*
 * Give @want, which has none, a counter out of @first, moving owners of counters that are not
 * locked to others of theirs where that is needed: breadth first, over the shortest alternating
 * path to a free counter. False, and nothing changed, if there is no such path.
 */
static bool place(struct matching *m, unsigned int want, u64 first)
{
	u8 queue[REFPMU_MAX_COUNTERS]; /* wants whose counters are to be looked at */
	u8 taker[REFPMU_MAX_COUNTERS]; /* who would take this counter over */
	unsigned int head = 0, tail = 0, counter, w = want;
	u64 seen = m->locked;
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
		reach = m->wants[w].allowed & ~seen;
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

/* Bring @want, which has a counter, to one of @to for good if all others can still be placed. */
static void settle(struct matching *m, unsigned int want, u64 to)
{
	const s8 old = m->counter[want];

	if (!(one_counter(old) & to)) {
		m->used &= ~one_counter(old);
		m->owner[old] = NOBODY;
		m->counter[want] = REFPMU_COUNTER_NONE;
		if (!place(m, want, to)) {
			m->used |= one_counter(old);
			m->owner[old] = (s8)want;
			m->counter[want] = old;
			return;
		}
	}
	m->locked |= one_counter(m->counter[want]);
}

/* Put the pinned wants where they are. */
static int place_pinned(struct matching *m, unsigned int n)
{
	int err = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		const struct refpmu_want *want = &m->wants[i];
		const u64 bit = one_counter(want->previous) & want->allowed;

		if (!want->pinned)
			continue;
		if (!bit)
			return -EINVAL;
		if (m->used & bit)
			err = -ENOSPC; /* unless a later one is invalid */
		m->used |= bit;
		m->locked |= bit;
		m->counter[i] = want->previous;
		m->owner[want->previous] = (s8)i;
	}
	return err;
}

int refpmu_constraint_assign(const struct refpmu_want *wants, unsigned int n, s8 *counter)
{
	struct matching m = { .wants = wants };
	unsigned int i;
	int err;

	if (n > REFPMU_MAX_COUNTERS)
		return -EINVAL;
	memset(m.counter, REFPMU_COUNTER_NONE, sizeof(m.counter));
	memset(m.owner, NOBODY, sizeof(m.owner));

	err = place_pinned(&m, n);
	if (err)
		return err;
	for (i = 0; i < n; i++) {
		if (!wants[i].pinned && !place(&m, i, wants[i].allowed))
			return -ENOSPC;
	}

	/* Everyone has a place; the rest only makes it a better one. Staying beats preference. */
	for (i = 0; i < n; i++)
		settle(&m, i, one_counter(wants[i].previous) & wants[i].allowed);
	for (i = 0; i < n; i++) {
		if (!(one_counter(m.counter[i]) & m.locked))
			settle(&m, i, wants[i].preferred & wants[i].allowed);
	}

	for (i = 0; i < n; i++)
		counter[i] = m.counter[i];
	return 0;
}
