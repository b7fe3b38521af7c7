// SPDX-License-Identifier: GPL-2.0-only
/* Assign counters to events: when events are added, and as a trial when a group is opened. */
#include <linux/slab.h>

#include "bus.h"
#include "counter.h"
#include "lbr.h"
#include "schedule.h"
#include "transition.h"

/* Convert the settings that event_init has stored in hw to a want. */
static struct refpmu_want want(const struct perf_event *event)
{
	const struct hw_perf_event *hwc = &event->hw;

	return (struct refpmu_want){
		.allowed = hwc->config_base,
		.preferred = hwc->event_base,
		.previous = REFPMU_COUNTER_NONE,
		.wide = hwc->flags & REFPMU_HW_WIDE,
		.branches = hwc->flags & REFPMU_HW_BRANCHES,
		.extra = hwc->extra_reg.idx,
		.previous_extra = REFPMU_REGISTER_NONE,
		.extra_value = hwc->extra_reg.config,
		.branch_select = hwc->branch_reg.config,
	};
}

static int assign(struct refpmu_cpu *cpuc, bool pin_running)
{
	unsigned int i;

	for (i = 0; i < cpuc->n_events; i++) {
		const struct hw_perf_event *hwc = &cpuc->events[i]->hw;
		struct refpmu_want *w = &cpuc->wants[i];

		*w = want(cpuc->events[i]);
		w->allowed &= ~refpmu_habits.held;
		w->previous = hwc->idx;
		if (hwc->extra_reg.alloc)
			w->previous_extra = hwc->extra_reg.reg;
		w->pinned = pin_running && hwc->idx >= 0 && !(hwc->state & PERF_HES_STOPPED);
	}
	return refpmu_constraint_assign(cpuc->wants, cpuc->n_events, cpuc->places);
}

/* Return the counters of an event on @idx. A wide event also has the odd counter. */
static u64 span(const struct hw_perf_event *hwc, int idx)
{
	return BIT_ULL(idx) | (hwc->flags & REFPMU_HW_WIDE ? BIT_ULL(idx + 1) : 0);
}

static void set_owner(struct refpmu_cpu *cpuc, u64 counters, struct perf_event *owner)
{
	for (; counters; counters &= counters - 1)
		cpuc->owner[__ffs64(counters)] = owner;
}

/*
 * Program the extra register of an event. The event code determines which of the two off-core
 * registers it uses.
 */
static void claim_register(struct refpmu_cpu *cpuc, struct hw_perf_event *hwc, s8 reg)
{
	struct hw_perf_event_extra *extra = &hwc->extra_reg;

	extra->reg = reg;
	extra->alloc = 1;
	if (extra->idx == REFPMU_EXTRA_LOAD_LATENCY) {
		refpmu_bus_write(cpuc, REFPMU_REG_LD_LAT, extra->config);
		return;
	}
	hwc->config &= ~REFPMU_EVTSEL_CODE;
	hwc->config |= reg ? REFPMU_EVENT_OFFCORE_1 : REFPMU_EVENT_OFFCORE_0;
	refpmu_bus_write(cpuc, REFPMU_REG_OFFCORE_RSP(reg), extra->config);
}

static void claim(struct refpmu_cpu *cpuc, struct perf_event *event, struct refpmu_place to)
{
	struct hw_perf_event *hwc = &event->hw;
	const u64 counters = span(hwc, to.counter);

	hwc->idx = to.counter;
	cpuc->used |= counters;
	set_owner(cpuc, counters, event);
	if (to.extra != REFPMU_REGISTER_NONE)
		claim_register(cpuc, hwc, to.extra);
}

/**
 * refpmu_release() - Free the counter and the extra register of an event.
 * @cpuc: State of this CPU.
 * @event: The event; it is stopped.
 *
 * The function also acknowledges an overflow that the counter still shows.
 *
 * Context: On the CPU of @cpuc, interrupts off, PMU disabled.
 */
void refpmu_release(struct refpmu_cpu *cpuc, struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	const u64 counters = span(hwc, hwc->idx);

	refpmu_ack(cpuc, counters);
	set_owner(cpuc, counters, NULL);
	cpuc->used &= ~counters;
	hwc->extra_reg.alloc = 0;
	hwc->idx = -1;
}

static bool has_place(const struct hw_perf_event *hwc, struct refpmu_place to)
{
	if (hwc->idx != to.counter)
		return false;
	return to.extra == REFPMU_REGISTER_NONE || hwc->extra_reg.reg == to.extra;
}

/*
 * Remove the events that must move from their counters. Return the set of those that were running.
 */
static u64 evict(struct refpmu_cpu *cpuc)
{
	u64 ran = 0;
	unsigned int i;

	for (i = 0; i < cpuc->n_events; i++) {
		struct perf_event *event = cpuc->events[i];

		if (event->hw.idx < 0 || has_place(&event->hw, cpuc->places[i]))
			continue;
		if (!(event->hw.state & PERF_HES_STOPPED))
			ran |= BIT_ULL(i);
		refpmu_apply_op(cpuc, event, REFPMU_OP_STOP_UPDATE);
		refpmu_release(cpuc, event);
	}
	return ran;
}

/*
 * Put @event on its new counter. If @start is false, because it is throttled or was added without
 * PERF_EF_START, program the counter only. perf starts it later without a reload.
 */
static void place(struct refpmu_cpu *cpuc, struct perf_event *event, struct refpmu_place to,
		  bool start)
{
	claim(cpuc, event, to);
	if (start)
		refpmu_apply_op(cpuc, event, REFPMU_OP_START_RELOAD);
	else
		refpmu_set_period(cpuc, event);
}

static bool wants_start(const struct perf_event *event)
{
	return !(event->hw.state & PERF_HES_ARCH);
}

/* Return true if only the newest event lacks a counter, and it needs no other resource. */
static bool lacks_one_counter(const struct refpmu_cpu *cpuc)
{
	const struct hw_perf_event *hwc = &cpuc->events[cpuc->n_events - 1]->hw;
	unsigned int i;

	if (hwc->idx >= 0 || hwc->extra_reg.idx != REFPMU_EXTRA_NONE ||
	    hwc->flags & (REFPMU_HW_WIDE | REFPMU_HW_BRANCHES))
		return false;
	for (i = 0; i < cpuc->n_events - 1; i++) {
		if (cpuc->events[i]->hw.idx < 0)
			return false;
	}
	return true;
}

/*
 * Fast path: perf adds events one by one, and usually a free counter exists. No other event then
 * has to move, and no search is necessary. Return false if this does not apply.
 */
static bool place_newest(struct refpmu_cpu *cpuc)
{
	struct perf_event *event = cpuc->events[cpuc->n_events - 1];
	const u64 free = event->hw.config_base & ~cpuc->used & ~refpmu_habits.held;
	const u64 preferred = event->hw.event_base & free;
	struct refpmu_place to = { .extra = REFPMU_REGISTER_NONE };

	if (!free || !lacks_one_counter(cpuc))
		return false;
	to.counter = __ffs64(preferred ?: free);
	place(cpuc, event, to, wants_start(event));
	refpmu_attach(cpuc, event);
	return true;
}

/**
 * refpmu_schedule() - Assign a counter to every event of this CPU.
 * @cpuc: State of this CPU.
 *
 * Running events move only if the others cannot be placed otherwise.
 *
 * Context: On the CPU of @cpuc, interrupts off, PMU disabled.
 * Return: 0; -EAGAIN, with nothing changed, if no assignment exists.
 */
int refpmu_schedule(struct refpmu_cpu *cpuc)
{
	u64 start = 0;
	unsigned int i;

	if (cpuc->n_events && place_newest(cpuc))
		return 0;
	if (assign(cpuc, true) && assign(cpuc, false))
		return -EAGAIN;
	for (i = 0; i < cpuc->n_events; i++) {
		if (cpuc->events[i]->hw.idx < 0 && wants_start(cpuc->events[i]))
			start |= BIT_ULL(i);
	}
	start |= evict(cpuc);
	for (i = 0; i < cpuc->n_events; i++) {
		if (cpuc->events[i]->hw.idx < 0)
			place(cpuc, cpuc->events[i], cpuc->places[i], start & BIT_ULL(i));
	}
	for (i = 0; i < cpuc->n_events; i++)
		refpmu_attach(cpuc, cpuc->events[i]);
	return 0;
}

struct trial {
	struct refpmu_want wants[REFPMU_MAX_COUNTERS];
	struct refpmu_place places[REFPMU_MAX_COUNTERS];
	unsigned int n;
};

/*
 * Software events need no counter. A group with events of another hardware PMU can never be
 * scheduled as a whole. Older kernels do not check that, so the driver must reject it.
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

/*
 * A new event is not on its leader's sibling list yet, so it is collected separately. If the new
 * event is itself the leader, its list must not be walked.
 */
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

/**
 * refpmu_validate_group() - Check that a group can be scheduled.
 * @event: The new event.
 *
 * The check uses temporary data only. It does not depend on the current use of the PMU and changes
 * no event.
 *
 * Context: A task; may sleep.
 * Return: 0; -EINVAL if an idle PMU cannot count @event together with its group; -ENOMEM.
 */
int refpmu_validate_group(struct perf_event *event)
{
	struct trial *trial = kzalloc(sizeof(*trial), GFP_KERNEL);
	int err;

	if (!trial)
		return -ENOMEM;
	err = collect_group(trial, event);
	if (!err && refpmu_constraint_assign(trial->wants, trial->n, trial->places))
		err = -EINVAL;
	kfree(trial);
	return err;
}
