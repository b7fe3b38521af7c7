/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Counter arithmetic: deltas across a wrap, reload values, and the end of a period. */
#ifndef REFPMU_CORE_PERIOD_H
#define REFPMU_CORE_PERIOD_H

#include "refpmu_port.h"

/**
 * refpmu_period_delta() - Calculate the events between two readings of a counter.
 * @prev: First reading.
 * @now: Second reading; the counter may have wrapped once since the first.
 * @width: Bits of the counter, 1 to 64.
 *
 * Return: The number of events.
 */
u64 refpmu_period_delta(u64 prev, u64 now, unsigned int width);

/* The fields of struct hw_perf_event that describe the period of an event. */
struct refpmu_period {
	u64 period; /* hw.sample_period, at least 1 */
	s64 left; /* hw.period_left: events until the period ends; <= 0 when it has ended */
	u64 last; /* hw.last_period: the period that has just elapsed */
};

/* The result of refpmu_period_reload(). */
struct refpmu_reload {
	u64 raw; /* value to write, already masked to the width */
	bool elapsed; /* a whole period has elapsed: the driver reports an overflow */
};

/**
 * refpmu_period_reload() - Calculate the next start value of a counter.
 * @p: The event's period; updated.
 * @width: Bits of the counter, 2 to 64.
 * @min_period: Shortest period that the device supports. A shorter period is extended to it.
 *
 * If the period has ended, the function starts the next one and subtracts the overshoot from it. An
 * overshoot of more than one period restarts the period. The start value covers at least
 * @min_period events and at most half of the counter's range. The counter then cannot wrap twice
 * before a late interrupt is handled.
 *
 * Source: include/linux/perf_event.h at hw_perf_event.period_left; the limit of half the range is
 * common practice of drivers.
 *
 * Return: The start value, and whether a period has elapsed.
 */
struct refpmu_reload refpmu_period_reload(struct refpmu_period *p, unsigned int width,
					  u64 min_period);

/**
 * refpmu_period_counting() - Get the private period of an event that does not sample.
 * @width: Bits of the counter.
 *
 * Return: Just below half the range of the counter.
 */
u64 refpmu_period_counting(unsigned int width);

#endif /* REFPMU_CORE_PERIOD_H */
