// SPDX-License-Identifier: GPL-2.0-only
/* Counters of refpmu_uncore: fold, reload, poll. */
#include "core/period.h"
#include "uncore.h"

/* Fold the counter of an event. */
void refpmu_uncore_fold(struct refpmu_uncore *uncore, struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	const u64 prev = local64_read(&hwc->prev_count);
	const u64 now = refpmu_uncore_bus_read(uncore, REFPMU_REG_PMC(hwc->idx));

	local64_set(&hwc->prev_count, now);
	local64_add(refpmu_period_delta(prev, now, uncore->params.width), &event->count);
}

/* Begin a new count: set the counter to 0, and acknowledge an overflow that it still shows. */
void refpmu_uncore_reload(struct refpmu_uncore *uncore, struct perf_event *event)
{
	refpmu_uncore_bus_write(uncore, REFPMU_REG_GLOBAL_STATUS_RESET, BIT_ULL(event->hw.idx));
	refpmu_uncore_bus_write(uncore, REFPMU_REG_A_PMC(event->hw.idx), 0);
	local64_set(&event->hw.prev_count, 0);
}

/* Fold all running counters. The caller holds the lock. */
void refpmu_uncore_poll(struct refpmu_uncore *uncore)
{
	u64 left;

	uncore->polls++;
	for (left = uncore->running; left; left &= left - 1)
		refpmu_uncore_fold(uncore, uncore->owner[refpmu_lowest_bit(left)]);
}
