// SPDX-License-Identifier: GPL-2.0-only
/* One event on its counter: fold, reload, enable, disable, and the state that perf sees. */
#include "refpmu.h"

static u32 value_reg(int idx)
{
	if (idx >= REFPMU_FIXED_BASE)
		return REFPMU_REG_FIXED_CTR(idx - REFPMU_FIXED_BASE);
	return REFPMU_REG_PMC(idx);
}

/* The legacy alias sign-extends 32 bits, so values go in through the full-width one. */
static u32 value_write_reg(int idx)
{
	if (idx >= REFPMU_FIXED_BASE)
		return REFPMU_REG_FIXED_CTR(idx - REFPMU_FIXED_BASE);
	return REFPMU_REG_A_PMC(idx);
}

/* The four control bits of fixed counter @i that do what @evtsel does to a general one. */
static u64 fixed_bits(unsigned int i, u64 evtsel)
{
	u64 bits = 0;

	if (evtsel & REFPMU_EVTSEL_OS)
		bits |= REFPMU_FIXED_OS(i);
	if (evtsel & REFPMU_EVTSEL_USR)
		bits |= REFPMU_FIXED_USR(i);
	if (evtsel & REFPMU_EVTSEL_INT)
		bits |= REFPMU_FIXED_PMI(i);
	return bits;
}

/* Write what has changed of the control of the fixed counters. */
void refpmu_fixed_flush(struct refpmu_cpu *cpuc)
{
	if (cpuc->fixed_written == cpuc->fixed_ctrl)
		return;
	refpmu_bus_write(cpuc, REFPMU_REG_FIXED_CTR_CTRL, cpuc->fixed_ctrl);
	cpuc->fixed_written = cpuc->fixed_ctrl;
}

/*
 * All fixed counters share the register: what it holds is kept, since to read it costs; and while
 * the PMU is disabled it is the same when it is written, so that is done once, at its end.
 */
static void fixed_control(struct refpmu_cpu *cpuc, unsigned int i, u64 bits)
{
	cpuc->fixed_ctrl &= ~GENMASK_ULL(4 * i + 3, 4 * i);
	cpuc->fixed_ctrl |= bits;
	if (!cpuc->disable_depth)
		refpmu_fixed_flush(cpuc);
}

/* Enable the counter of an event with its selector, or disable it. */
static void counter_switch(struct refpmu_cpu *cpuc, const struct hw_perf_event *hwc, bool on)
{
	const int idx = hwc->idx;

	if (idx >= REFPMU_FIXED_BASE)
		fixed_control(cpuc, idx - REFPMU_FIXED_BASE,
			      on ? fixed_bits(idx - REFPMU_FIXED_BASE, hwc->config) : 0);
	else
		refpmu_bus_write(cpuc, REFPMU_REG_EVTSEL(idx),
				 hwc->config | (on ? REFPMU_EVTSEL_EN : 0));
}

/*
 * The odd neighbour of a wide event's counter. It is switched on first and off last, so that no
 * occurrence finds the even one alone.
 */
static void merge_switch(struct refpmu_cpu *cpuc, const struct hw_perf_event *hwc, bool on)
{
	if (hwc->flags & REFPMU_HW_WIDE)
		refpmu_bus_write(cpuc, REFPMU_REG_EVTSEL(hwc->idx + 1),
				 on ? REFPMU_EVENT_MERGE | REFPMU_EVTSEL_EN : 0);
}

static void counter_enable(struct refpmu_cpu *cpuc, const struct hw_perf_event *hwc)
{
	merge_switch(cpuc, hwc, true);
	counter_switch(cpuc, hwc, true);
}

static void counter_disable(struct refpmu_cpu *cpuc, const struct hw_perf_event *hwc)
{
	counter_switch(cpuc, hwc, false);
	merge_switch(cpuc, hwc, false);
}

/*
 * Acknowledge exactly @status. While the PMU is disabled there is seldom anything of it, and no
 * more than when it was disabled: what is not there is not written.
 */
void refpmu_ack(struct refpmu_cpu *cpuc, u64 status)
{
	if (cpuc->disable_depth && !(cpuc->status & status))
		return;
	refpmu_bus_write(cpuc, REFPMU_REG_GLOBAL_STATUS_RESET, status);
	cpuc->status &= ~status;
}

/*
 * Fold what the counter has counted into the event. The previous value is fetched before the
 * counter is read, so an interrupt in between, which folds too, is noticed and nothing is added
 * twice.
 */
void refpmu_update(struct refpmu_cpu *cpuc, struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 prev, now, delta;

	do {
		prev = local64_read(&hwc->prev_count);
		now = refpmu_bus_read(cpuc, value_reg(hwc->idx));
	} while (local64_cmpxchg(&hwc->prev_count, prev, now) != prev);

	delta = refpmu_period_delta(prev, now, cpuc->model.params.width);
	local64_add(delta, &event->count);
	local64_sub(delta, &hwc->period_left);
}

/*
 * Program the counter from what is left of the period; true if a whole period has gone by. perf
 * may change sample_period while a period runs (frequency mode does all the time), so the length
 * of the running one is kept in last_tag, and becomes last_period when that period is over.
 */
bool refpmu_set_period(struct refpmu_cpu *cpuc, struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	struct refpmu_period period = {
		.period = hwc->sample_period,
		.left = local64_read(&hwc->period_left),
		.last = hwc->last_tag ? hwc->last_tag : hwc->last_period,
	};
	struct refpmu_reload reload;

	reload = refpmu_period_reload(&period, cpuc->model.params.width,
				      to_refpmu(event->pmu)->caps.min_period);
	local64_set(&hwc->period_left, period.left);
	if (reload.elapsed)
		hwc->last_period = hwc->last_tag;
	hwc->last_tag = period.last;
	local64_set(&hwc->prev_count, reload.raw);
	refpmu_bus_write(cpuc, value_write_reg(hwc->idx), reload.raw);
	if (hwc->flags & REFPMU_HW_PRECISE)
		refpmu_precise_reload(cpuc, event, reload.raw);
	return reload.elapsed;
}

/*
 * Take @event, which has a counter, through @op. A reload begins a new count, so an overflow that
 * the counter still shows, its predecessor's perhaps, is acknowledged with it.
 */
void refpmu_do(struct refpmu_cpu *cpuc, struct perf_event *event, enum refpmu_op op)
{
	struct hw_perf_event *hwc = &event->hw;
	const struct refpmu_step step = refpmu_state_step(hwc->state, op);

	WARN_ON_ONCE(step.actions & REFPMU_DO_WARN);
	if (step.actions & REFPMU_DO_DISABLE) {
		counter_disable(cpuc, hwc);
		cpuc->running--;
		hwc->state |= PERF_HES_STOPPED;
		if (hwc->flags & REFPMU_HW_PRECISE)
			refpmu_precise_disable(cpuc, event);
	}
	if (step.actions & REFPMU_DO_FOLD)
		refpmu_update(cpuc, event);
	if (step.actions & REFPMU_DO_RELOAD) {
		refpmu_ack(cpuc, BIT_ULL(hwc->idx));
		refpmu_set_period(cpuc, event);
	}
	hwc->state = step.next;
	if (step.actions & REFPMU_DO_ENABLE) {
		if (hwc->flags & REFPMU_HW_PRECISE)
			refpmu_precise_enable(cpuc, event);
		counter_enable(cpuc, hwc);
		cpuc->running++;
	}
	perf_event_update_userpage(event);
}
