// SPDX-License-Identifier: GPL-2.0-only
/* One event on its counter: fold, reload, enable, disable. */
#include "bus.h"
#include "core/period.h"
#include "counter.h"
#include "port/work.h"
#include "precise.h"

static u32 value_reg(int idx)
{
	if (idx >= REFPMU_FIXED_BASE)
		return REFPMU_REG_FIXED_CTR(idx - REFPMU_FIXED_BASE);
	return REFPMU_REG_PMC(idx);
}

/*
 * The legacy alias of a counter sign-extends 32 bits, so the driver writes to the full-width one.
 */
static u32 value_write_reg(int idx)
{
	if (idx >= REFPMU_FIXED_BASE)
		return REFPMU_REG_FIXED_CTR(idx - REFPMU_FIXED_BASE);
	return REFPMU_REG_A_PMC(idx);
}

/* Return the control bits of fixed counter @i that correspond to @evtsel of a general counter. */
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

/* Write the control register of the fixed counters, if its value has changed. */
void refpmu_fixed_flush(struct refpmu_cpu *cpuc)
{
	if (cpuc->fixed_written == cpuc->fixed_ctrl)
		return;
	refpmu_bus_write(cpuc, REFPMU_REG_FIXED_CTR_CTRL, cpuc->fixed_ctrl);
	cpuc->fixed_written = cpuc->fixed_ctrl;
}

/*
 * All fixed counters share this register. The driver caches its value, because a read is expensive.
 * While the PMU is disabled, a write has no effect yet, so one write when perf enables the PMU is
 * enough.
 */
static void fixed_control(struct refpmu_cpu *cpuc, unsigned int i, u64 bits)
{
	cpuc->fixed_ctrl &= ~GENMASK_ULL(4 * i + 3, 4 * i);
	cpuc->fixed_ctrl |= bits;
	if (!cpuc->disable_depth)
		refpmu_fixed_flush(cpuc);
}

/* Enable or disable the counter of an event. */
static void counter_switch(struct refpmu_cpu *cpuc, const struct hw_perf_event *hwc, bool on)
{
	const int idx = hwc->idx;

	on = on && !(refpmu_habits.stuck & BIT_ULL(idx));
	if (idx >= REFPMU_FIXED_BASE)
		fixed_control(cpuc, idx - REFPMU_FIXED_BASE,
			      on ? fixed_bits(idx - REFPMU_FIXED_BASE, hwc->config) : 0);
	else
		refpmu_bus_write(cpuc, REFPMU_REG_EVTSEL(idx),
				 hwc->config | (on ? REFPMU_EVTSEL_EN : 0));
}

/*
 * Enable or disable the odd counter of a wide event. It is enabled first and disabled last, so that
 * the even counter never counts alone.
 */
static void merge_switch(struct refpmu_cpu *cpuc, const struct hw_perf_event *hwc, bool on)
{
	if (hwc->flags & REFPMU_HW_WIDE)
		refpmu_bus_write(cpuc, REFPMU_REG_EVTSEL(hwc->idx + 1),
				 on ? REFPMU_EVENT_MERGE | REFPMU_EVTSEL_EN : 0);
}

/* Let the counter of an event count, as soon as GLOBAL_CTRL allows it. */
void refpmu_counter_enable(struct refpmu_cpu *cpuc, const struct hw_perf_event *hwc)
{
	merge_switch(cpuc, hwc, true);
	counter_switch(cpuc, hwc, true);
}

/* Undo refpmu_counter_enable(). In the handler, the counter has counted until now. */
void refpmu_counter_disable(struct refpmu_cpu *cpuc, const struct hw_perf_event *hwc)
{
	refpmu_work_run_on(cpuc);
	counter_switch(cpuc, hwc, false);
	merge_switch(cpuc, hwc, false);
}

/**
 * refpmu_ack() - Acknowledge overflows.
 * @cpuc: State of this CPU.
 * @status: Bits of GLOBAL_STATUS to clear.
 *
 * While the PMU is disabled, no new bit can appear. The function then skips the write if the status
 * that was read at pmu_disable has none of the bits.
 *
 * Context: On the CPU of @cpuc, interrupts off; also in an NMI.
 */
void refpmu_ack(struct refpmu_cpu *cpuc, u64 status)
{
	if (cpuc->disable_depth && !(cpuc->status & status))
		return;
	refpmu_bus_write(cpuc, REFPMU_REG_GLOBAL_STATUS_RESET, status);
	cpuc->status &= ~status;
}

/**
 * refpmu_update() - Fold a counter into its event.
 * @cpuc: State of this CPU.
 * @event: The event; it has a counter.
 *
 * The function reads prev_count before the counter. An interrupt in between, which also folds,
 * changes prev_count, so the function tries again and counts nothing twice.
 *
 * Context: On the CPU of @cpuc, interrupts off; also in an NMI.
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
	local64_add(delta - refpmu_habit_fold(&cpuc->work.habit, local64_read(&event->count)),
		    &event->count);
	local64_sub(delta, &hwc->period_left);
}

/**
 * refpmu_set_period() - Program a counter for the rest of the event's period.
 * @cpuc: State of this CPU.
 * @event: The event; it has a counter.
 *
 * perf may change sample_period during a period; in frequency mode it does so regularly. Therefore
 * last_tag holds the length of the current period. When the period ends, this value becomes
 * last_period.
 *
 * Context: On the CPU of @cpuc, interrupts off; the handler is masked or running.
 * Return: true if a whole period has elapsed.
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

/**
 * refpmu_renew() - Program a counter again that has overflowed before its event was stopped.
 * @cpuc: State of this CPU.
 * @event: The event; it has a counter, was stopped without a fold, and is not precise.
 *
 * perf may stop an event whose overflow is not handled yet: with a throttled event it stops all
 * members of the group. The handler acknowledges the overflow and does not change a stopped event.
 * A counter that continued from there would overflow again only after its whole range. If the
 * overflow is still pending, the handler programs the counter.
 *
 * Context: On the CPU of @cpuc, interrupts off; the handler is masked or running.
 */
void refpmu_renew(struct refpmu_cpu *cpuc, struct perf_event *event)
{
	const int idx = event->hw.idx;

	/* A counter is in its upper half until it overflows. */
	if (refpmu_bus_read(cpuc, value_reg(idx)) >
	    refpmu_period_counting(cpuc->model.params.width) ||
	    refpmu_bus_read(cpuc, REFPMU_REG_GLOBAL_STATUS) & BIT_ULL(idx))
		return;
	refpmu_update(cpuc, event);
	refpmu_set_period(cpuc, event);
}
