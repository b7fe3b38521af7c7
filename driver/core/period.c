// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Counter arithmetic: deltas across a wrap, reload values, and the end of a period. */
#include "period.h"

#define MAX_PERIOD refpmu_low_bits(63)

u64 refpmu_period_delta(u64 prev, u64 now, unsigned int width)
{
	return (now - prev) & refpmu_low_bits(width);
}

u64 refpmu_period_counting(unsigned int width)
{
	/*
	 * Just below half the range, so that the period of a 64-bit counter fits the signed
	 * period_left.
	 */
	return refpmu_low_bits(width) >> 1;
}

struct refpmu_reload refpmu_period_reload(struct refpmu_period *p, unsigned int width,
					  u64 min_period)
{
	/*
	 * perf adjusts the period of a frequency from 1 on, and does not know the device's minimum.
	 */
	const u64 longer = p->period > min_period ? p->period : min_period;
	const s64 period = (s64)(longer < MAX_PERIOD ? longer : MAX_PERIOD);
	struct refpmu_reload reload = { .raw = 0, .elapsed = p->left <= 0 };
	u64 events;

	if (reload.elapsed) {
		/*
		 * Do not make up for whole periods that were missed: that would delay the
		 * interrupts further.
		 */
		if (p->left <= -period)
			p->left = period;
		else
			p->left += period;
		p->last = (u64)period;
	}

	events = (u64)p->left;
	if (events < min_period)
		events = min_period;
	/*
	 * Apply this limit last, so that no min_period makes the counter start in its lower half.
	 */
	if (events > refpmu_period_counting(width))
		events = refpmu_period_counting(width);
	reload.raw = (0 - events) & refpmu_low_bits(width);
	return reload;
}
