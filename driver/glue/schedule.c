// SPDX-License-Identifier: GPL-2.0-only
/* Which event gets which counter: when events are added, and on trial when a group is opened. */
#include <linux/slab.h>

#include "refpmu.h"

/* event_init left the sets there; nobody else uses these fields of a hardware event. */
static struct refpmu_want want(const struct perf_event *event)
{
	return (struct refpmu_want){
		.allowed = event->hw.config_base,
		.preferred = event->hw.event_base,
		.previous = REFPMU_COUNTER_NONE,
	};
}

static int assign(struct refpmu_cpu *cpuc, bool pin_running)
{
	unsigned int i;

	for (i = 0; i < cpuc->n_events; i++) {
		const struct hw_perf_event *hwc = &cpuc->events[i]->hw;

		cpuc->wants[i] = want(cpuc->events[i]);
		cpuc->wants[i].previous = hwc->idx;
		cpuc->wants[i].pinned = pin_running && hwc->idx >= 0 &&
					!(hwc->state & PERF_HES_STOPPED);
	}
	return refpmu_constraint_assign(cpuc->wants, cpuc->n_events, cpuc->counter);
}

static void claim(struct refpmu_cpu *cpuc, struct perf_event *event, int idx)
{
	event->hw.idx = idx;
	cpuc->owner[idx] = event;
	cpuc->used |= BIT_ULL(idx);
}

/* Give up the counter of a stopped event, with the overflow that it may still show. */
void refpmu_release(struct refpmu_cpu *cpuc, struct perf_event *event)
{
	const int idx = event->hw.idx;

	refpmu_ack(cpuc, BIT_ULL(idx));
	cpuc->owner[idx] = NULL;
	cpuc->used &= ~BIT_ULL(idx);
	event->hw.idx = -1;
}

/* Take events off the counters that they do not keep; returns the set of those that ran. */
static u64 evict(struct refpmu_cpu *cpuc)
{
	u64 ran = 0;
	unsigned int i;

	for (i = 0; i < cpuc->n_events; i++) {
		struct perf_event *event = cpuc->events[i];

		if (event->hw.idx < 0 || event->hw.idx == cpuc->counter[i])
			continue;
		if (!(event->hw.state & PERF_HES_STOPPED))
			ran |= BIT_ULL(i);
		refpmu_do(cpuc, event, REFPMU_OP_STOP_UPDATE);
		refpmu_release(cpuc, event);
	}
	return ran;
}

/*
 * Put events on their new counters. One that is throttled, or was added without PERF_EF_START,
 * gets its counter programmed only: it is started later, without a reload.
 */
static void place(struct refpmu_cpu *cpuc, u64 start)
{
	unsigned int i;

	for (i = 0; i < cpuc->n_events; i++) {
		struct perf_event *event = cpuc->events[i];

		if (event->hw.idx >= 0)
			continue;
		claim(cpuc, event, cpuc->counter[i]);
		if (start & BIT_ULL(i))
			refpmu_do(cpuc, event, REFPMU_OP_START_RELOAD);
		else
			refpmu_set_period(cpuc, event);
	}
}

/*
 * Give every event that was added a counter: 0, or -EAGAIN with nothing changed. Running events
 * move only if the others cannot be placed around them. Interrupts and PMU are off.
 */
int refpmu_schedule(struct refpmu_cpu *cpuc)
{
	u64 start = 0;
	unsigned int i;

	if (assign(cpuc, true) && assign(cpuc, false))
		return -EAGAIN;
	for (i = 0; i < cpuc->n_events; i++) {
		const struct hw_perf_event *hwc = &cpuc->events[i]->hw;

		if (hwc->idx < 0 && !(hwc->state & PERF_HES_ARCH))
			start |= BIT_ULL(i);
	}
	start |= evict(cpuc);
	place(cpuc, start);
	return 0;
}

struct trial {
	struct refpmu_want wants[REFPMU_MAX_COUNTERS];
	s8 counter[REFPMU_MAX_COUNTERS];
	unsigned int n;
};

/*
 * Software events need nothing of this PMU. A group with events of another hardware PMU can never
 * be counted as one; older kernels leave it to the driver to say so.
 */
static int collect(struct trial *trial, struct perf_event *event, const struct pmu *pmu)
{
	if (event->pmu != pmu)
		return is_software_event(event) ? 0 : -EINVAL;
	if (trial->n == REFPMU_MAX_COUNTERS)
		return -EINVAL;
	trial->wants[trial->n++] = want(event);
	return 0;
}

/* The new event is not on its leader's list yet; a leader's own list must not be walked. */
static int collect_group(struct trial *trial, struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	int err = collect(trial, event, event->pmu);

	if (err || leader == event)
		return err;
	err = collect(trial, leader, event->pmu);
	for_each_sibling_event(sibling, leader) {
		if (!err && sibling->state > PERF_EVENT_STATE_OFF)
			err = collect(trial, sibling, event->pmu);
	}
	return err;
}

/*
 * -EINVAL unless an idle PMU could count @event together with its group. Works on scratch state:
 * how busy the PMU is now does not matter, and no event is touched. May sleep.
 */
int refpmu_validate_group(struct perf_event *event)
{
	struct trial *trial = kzalloc(sizeof(*trial), GFP_KERNEL);
	int err;

	if (!trial)
		return -ENOMEM;
	err = collect_group(trial, event);
	if (!err && refpmu_constraint_assign(trial->wants, trial->n, trial->counter))
		err = -EINVAL;
	kfree(trial);
	return err;
}
