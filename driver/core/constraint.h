/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Which counter, and which extra register, an event gets: finds a fit whenever there is one. */
#ifndef REFPMU_CORE_CONSTRAINT_H
#define REFPMU_CORE_CONSTRAINT_H

#include "config.h"
#include "refpmu_port.h"

#define REFPMU_COUNTER_NONE (-1)
#define REFPMU_REGISTER_NONE (-1)

/* One event that wants a counter. */
struct refpmu_want {
	u64 allowed; /* set of counters that can count it; of a wide one: the even ones */
	u64 preferred; /* subset of allowed to try first; costs no other its place */
	s8 previous; /* counter it has or had, or REFPMU_COUNTER_NONE: kept if possible */
	bool pinned; /* it runs on previous, and previous_extra, now and must stay there */
	bool wide; /* takes an even general counter and the odd one that follows it */
	bool branches; /* it uses the branch records, with branch_select */
	u8 extra; /* enum refpmu_extra: the kind of register it needs beside the counter */
	s8 previous_extra; /* as previous, for a register of that kind */
	u64 extra_value; /* what that register must hold */
	u64 branch_select; /* what the one selector of branch records must hold */
	u64 exclusive; /* set of features, each of which one want at most may have */
};

struct refpmu_place {
	s8 counter; /* of a wide want: the even one */
	s8 extra; /* number of its register, or REFPMU_REGISTER_NONE if it needs none */
};

/*
 * Give each of @n wants (0 to REFPMU_MAX_COUNTERS) a counter of its own, of those it allows, or a
 * pair of them, and the extra register it needs: there are two for OFFCORE, interchangeable, and
 * one for LOAD_LATENCY; wants of one kind share a register if they want the same value. All branch
 * users share one selector.
 *
 * Returns 0, or -ENOSPC if there is no such assignment, or -EINVAL (which comes first) if @n is
 * too large, a wide want allows an odd or a fixed counter, a kind of register does not exist, or a
 * pinned want has no counter or register to stay on. @places is written only on success.
 *
 * An assignment is found whenever there is one. Of those there are, in this order: pinned ones
 * stay; in order of the wants each keeps its counter, unless that costs another its place or an
 * earlier one its stay; then each gets a preferred counter on the same terms. Registers are kept
 * likewise. The same wants give the same places.
 *
 * Cost: O(n^2 * 64) steps without wide wants. With them, times the number of sets of pairs that
 * differ for somebody: of pairs that are alike to all wants only the number counts, so c classes
 * of pairs make at most (16 / c + 1)^c sets, and masks made to be hard 2^16. No recursion; no
 * frame of 1 KiB.
 */
int refpmu_constraint_assign(const struct refpmu_want *wants, unsigned int n,
			     struct refpmu_place *places);

#endif /* REFPMU_CORE_CONSTRAINT_H */
