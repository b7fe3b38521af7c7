/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Counter arithmetic: deltas across a wrap, reload values, and when a period has elapsed. */
#ifndef REFPMU_CORE_PERIOD_H
#define REFPMU_CORE_PERIOD_H

#include "refpmu_port.h"

/* Events between two readings of a counter @width bits wide (1 to 64) that wrapped at most once. */
u64 refpmu_period_delta(u64 prev, u64 now, unsigned int width);

/* What perf keeps in struct hw_perf_event for one event. */
struct refpmu_period {
	u64 period; /* hw.sample_period, at least 1 */
	s64 left; /* hw.period_left: events until the period is over; <= 0 when it is */
	u64 last; /* hw.last_period: the period that has just elapsed */
};

/* What to do with the counter next. */
struct refpmu_reload {
	u64 raw; /* value to write, already masked to the width */
	bool elapsed; /* a whole period has gone by: an overflow to report */
};

/*
 * Plan the next reload of a counter of @width bits (2 to 64): starts the next period if this one
 * is over, carrying the overshoot (at most one period of it; more restarts the period), and
 * programs at most half of the counter's range and at least @min_period events, so a late
 * interrupt cannot be overtaken; a period that is shorter than @min_period is as long as that.
 * Updates @p.
 * Source: include/linux/perf_event.h at hw_perf_event.period_left; for the half of the range, the
 * practice of drivers.
 */
struct refpmu_reload refpmu_period_reload(struct refpmu_period *p, unsigned int width,
					  u64 min_period);

/* The private period of an event that does not sample: just below half the range of the counter. */
u64 refpmu_period_counting(unsigned int width);

#endif /* REFPMU_CORE_PERIOD_H */
