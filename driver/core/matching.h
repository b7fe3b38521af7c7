/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* A partial assignment of counters, and two ways to extend it. Only constraint.c uses it. */
#ifndef REFPMU_CORE_MATCHING_H
#define REFPMU_CORE_MATCHING_H

#include "constraint.h"

/*
 * The assignment in both directions: want to counter, counter to want. All wants are valid in the
 * sense of refpmu_constraint_assign().
 */
struct refpmu_matching {
	const struct refpmu_want *wants;
	unsigned int n;
	s8 counter[REFPMU_MAX_COUNTERS]; /* counter of a want, or REFPMU_COUNTER_NONE */
	s8 owner[REFPMU_MAX_COUNTERS]; /* want on a used counter */
	u64 used; /* counters with an owner */
	u64 locked; /* counters that the search may not change, with or without an owner */
	u64 paired; /* counters of wide wants */
	/*
	 * The want @trial may have only the counters in trial_set for now, not all that it allows.
	 */
	int trial; /* -1: no such want */
	u64 trial_set;
};

/* Return the set of counters that @want occupies on @counter; empty for REFPMU_COUNTER_NONE. */
u64 refpmu_matching_span(const struct refpmu_want *want, int counter);

/* Put @want, which has no counter, on @counter, which must be free. */
void refpmu_matching_put(struct refpmu_matching *m, unsigned int want, int counter);

/* Take @want off its counter. */
void refpmu_matching_drop(struct refpmu_matching *m, unsigned int want);

/*
 * Give @want, which is not wide and has no counter, a counter of @first. If necessary, move other
 * wants that are neither locked nor wide. Return false, with @m unchanged, if that is impossible.
 */
bool refpmu_matching_place(struct refpmu_matching *m, unsigned int want, u64 first);

/* Give each want without a counter one. Return false, with @m undefined, if that is impossible. */
bool refpmu_matching_fill(struct refpmu_matching *m);

/*
 * Like refpmu_matching_fill(), but first take all wants that are not locked off their counters.
 * Return false, with @m unchanged, if that is impossible.
 */
bool refpmu_matching_refill(struct refpmu_matching *m);

#endif /* REFPMU_CORE_MATCHING_H */
