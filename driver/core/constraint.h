/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Which counter counts which event: finds a fit whenever there is one. */
#ifndef REFPMU_CORE_CONSTRAINT_H
#define REFPMU_CORE_CONSTRAINT_H

#include "refpmu_port.h"

#define REFPMU_COUNTER_NONE (-1)

/* One event that wants a counter. */
struct refpmu_want {
	u64 allowed; /* set of counters that can count it */
	u64 preferred; /* subset of allowed to try first; costs no other its place */
	s8 previous; /* counter it has or had, or REFPMU_COUNTER_NONE: kept if possible */
	bool pinned; /* it runs on previous now and must stay there */
};

/*
 * Give each of @n wants (0 to REFPMU_MAX_COUNTERS) a counter of its own: counter[i] is in
 * wants[i].allowed and no two are equal. Returns 0, or -ENOSPC if no assignment exists, or
 * -EINVAL if @n is too large or a pinned want has no valid previous counter. @counter is written
 * only on success. An assignment is found whenever one exists (augmenting paths). Deterministic.
 * Cost: O(n * n * 64).
 */
int refpmu_constraint_assign(const struct refpmu_want *wants, unsigned int n, s8 *counter);

#endif /* REFPMU_CORE_CONSTRAINT_H */
