/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* A partial assignment of counters, and the two ways to extend it; for constraint.c alone. */
#ifndef REFPMU_CORE_MATCHING_H
#define REFPMU_CORE_MATCHING_H

#include "constraint.h"

/* Seen from both sides. All wants are valid, as refpmu_constraint_assign() defines it. */
struct refpmu_matching {
	const struct refpmu_want *wants;
	unsigned int n;
	s8 counter[REFPMU_MAX_COUNTERS]; /* of a want, or REFPMU_COUNTER_NONE */
	s8 owner[REFPMU_MAX_COUNTERS]; /* of a used counter: a want */
	u64 used; /* counters with an owner */
	u64 locked; /* counters that stay as they are: with their owner, or with none */
	u64 paired; /* counters of wide wants */
	/* What the want @trial may have for now, instead of all that it allows. */
	int trial; /* or -1 */
	u64 trial_set;
};

/* The counters that @want takes when it is put on @counter, as a set; empty for no counter. */
u64 refpmu_matching_span(const struct refpmu_want *want, int counter);

/* Put @want, which has none, on @counter, which nobody has. */
void refpmu_matching_put(struct refpmu_matching *m, unsigned int want, int counter);

/* Take @want, which has a counter, off it. */
void refpmu_matching_drop(struct refpmu_matching *m, unsigned int want);

/*
 * Give @want, which is not wide and has none, a counter out of @first, moving others that are
 * neither locked nor wide to counters of theirs where that is needed. False, and nothing changed,
 * if that cannot be done.
 */
bool refpmu_matching_place(struct refpmu_matching *m, unsigned int want, u64 first);

/* Give every want that has no counter one. False, and @m is of no more use, if there is no way. */
bool refpmu_matching_fill(struct refpmu_matching *m);

/*
 * The same, but those that are not locked start from nothing. False, and nothing changed, if there
 * is no way.
 */
bool refpmu_matching_refill(struct refpmu_matching *m);

#endif /* REFPMU_CORE_MATCHING_H */
