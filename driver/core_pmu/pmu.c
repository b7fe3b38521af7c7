// SPDX-License-Identifier: GPL-2.0-only
/* The callbacks that make refpmu a struct pmu. */
#include <linux/build_bug.h>
#include <linux/module.h>

#include "bus.h"
#include "compat/compat.h"
#include "compat/filter.h"
#include "counter.h"
#include "hybrid.h"
#include "init.h"
#include "irq.h"
#include "lbr.h"
#include "pmu.h"
#include "port/clock.h"
#include "port/log.h"
#include "schedule.h"
#include "sysfs.h"
#include "task.h"
#include "transition.h"

static_assert(REFPMU_STOPPED == PERF_HES_STOPPED);
static_assert(REFPMU_UPTODATE == PERF_HES_UPTODATE);
/* hw.config_base and hw.event_base hold sets of counters */
static_assert(sizeof(unsigned long) == sizeof(u64));

/**
 * refpmu_add() - Add an event to this CPU.
 * @event: The event.
 * @flags: PERF_EF_START, or 0.
 *
 * In a transaction the function only records the event, and commit_txn assigns counters to all
 * members at once. The state bit PERF_HES_ARCH marks an event that was added without PERF_EF_START,
 * so that commit_txn does not start it either.
 *
 * Context: On the CPU of the event, interrupts off, PMU disabled.
 * Return: 0; -EAGAIN if no counter is available.
 */
int refpmu_add(struct perf_event *event, int flags)
{
	struct refpmu_cpu *cpuc = refpmu_event_cpu(event);
	struct hw_perf_event *hwc = &event->hw;
	int err;

	refpmu_log_here(cpuc, REFPMU_CALL_ADD, flags, event->id);
	/* The filter callback prevents this. */
	if (WARN_ON_ONCE(!refpmu_runs_on(event->pmu, cpuc->cpu)))
		return -ENOENT;
	if (cpuc->n_events == REFPMU_MAX_COUNTERS)
		return -EAGAIN;

	hwc->idx = -1;
	hwc->state = refpmu_state_step(0, REFPMU_OP_ADD).next;
	if (!(flags & PERF_EF_START))
		hwc->state |= PERF_HES_ARCH;
	cpuc->events[cpuc->n_events++] = event;
	if (cpuc->txn & PERF_PMU_TXN_ADD)
		return 0;

	err = refpmu_schedule(cpuc);
	if (err)
		cpuc->n_events--;
	return err;
}

static void remove_event(struct refpmu_cpu *cpuc, const struct perf_event *event)
{
	unsigned int i, remaining = 0;

	for (i = 0; i < cpuc->n_events; i++) {
		if (cpuc->events[i] != event)
			cpuc->events[remaining++] = cpuc->events[i];
	}
	cpuc->n_events = remaining;
}

/**
 * refpmu_del() - Remove an event from this CPU.
 * @event: The event.
 * @flags: Unused.
 *
 * Context: On the CPU of the event, interrupts off, PMU disabled.
 */
void refpmu_del(struct perf_event *event, int flags)
{
	struct refpmu_cpu *cpuc = refpmu_event_cpu(event);

	refpmu_log_here(cpuc, REFPMU_CALL_DEL, flags, event->id);
	/* A member of an open transaction has no counter. cancel_txn removes it from the list. */
	if (event->hw.idx < 0)
		return;

	refpmu_apply_op(cpuc, event, REFPMU_OP_STOP_UPDATE);
	refpmu_detach(cpuc, event);
	refpmu_release(cpuc, event);
	remove_event(cpuc, event);
}

/**
 * refpmu_start() - Start an event.
 * @event: The event.
 * @flags: PERF_EF_RELOAD to program its counter, or 0.
 *
 * perf may call start, stop and read while the PMU is enabled, so they mask the handler.
 *
 * Context: On the CPU of the event, interrupts off.
 */
void refpmu_start(struct perf_event *event, int flags)
{
	const bool reload = flags & PERF_EF_RELOAD;
	struct refpmu_cpu *cpuc = refpmu_event_cpu(event);

	refpmu_log_here(cpuc, REFPMU_CALL_START, flags, event->id);
	if (WARN_ON_ONCE(event->hw.idx < 0))
		return;
	event->hw.state &= ~PERF_HES_ARCH;
	refpmu_mask(cpuc);
	if (!reload && event->hw.state == PERF_HES_STOPPED &&
	    !(event->hw.flags & REFPMU_HW_PRECISE))
		refpmu_renew(cpuc, event);
	refpmu_apply_op(cpuc, event, reload ? REFPMU_OP_START_RELOAD : REFPMU_OP_START);
	refpmu_unmask(cpuc);
}

/**
 * refpmu_stop() - Stop an event.
 * @event: The event.
 * @flags: PERF_EF_UPDATE to fold its counter, or 0.
 *
 * Context: On the CPU of the event, interrupts off.
 */
void refpmu_stop(struct perf_event *event, int flags)
{
	const bool update = flags & PERF_EF_UPDATE;
	struct refpmu_cpu *cpuc = refpmu_event_cpu(event);

	refpmu_log_here(cpuc, REFPMU_CALL_STOP, flags, event->id);
	if (WARN_ON_ONCE(event->hw.idx < 0))
		return;
	refpmu_mask(cpuc);
	refpmu_apply_op(cpuc, event, update ? REFPMU_OP_STOP_UPDATE : REFPMU_OP_STOP);
	refpmu_unmask(cpuc);
}

/**
 * refpmu_read() - Fold the counter of an event.
 * @event: The event.
 *
 * Context: On the CPU of the event, interrupts off; also in an NMI, when a sample is written.
 */
void refpmu_read(struct perf_event *event)
{
	struct refpmu_cpu *cpuc = refpmu_event_cpu(event);

	refpmu_log_here(cpuc, REFPMU_CALL_READ, 0, event->id);
	/* idx < 0: the event has no counter, in an open transaction. UPTODATE: nothing to fold. */
	if (event->hw.idx < 0 || event->hw.state & PERF_HES_UPTODATE)
		return;
	refpmu_mask(cpuc);
	if (refpmu_precise_read(cpuc, event))
		refpmu_update(cpuc, event);
	refpmu_unmask(cpuc);
}

/* Stop all counters with one write. Register writes take effect at switch_on(). Calls nest. */
static void switch_off(struct refpmu_cpu *cpuc)
{
	refpmu_work_settle(cpuc);
	if (cpuc->disable_depth++)
		return;
	barrier();
	refpmu_bus_write(cpuc, REFPMU_REG_GLOBAL_CTRL, 0);
	cpuc->status = refpmu_bus_read(cpuc, REFPMU_REG_GLOBAL_STATUS);
	refpmu_lbr_switch(cpuc, false);
}

/* Start all counters with one write. If no event runs, the device stays disabled. */
static void switch_on(struct refpmu_cpu *cpuc)
{
	refpmu_mask(cpuc);
	if (!--cpuc->disable_depth) {
		refpmu_lbr_switch(cpuc, true);
		refpmu_fixed_flush(cpuc);
		if (cpuc->running)
			refpmu_bus_write(cpuc, REFPMU_REG_GLOBAL_CTRL, cpuc->used);
		refpmu_clock_arm(cpuc);
	}
	refpmu_unmask(cpuc);
}

/**
 * refpmu_pmu_enable() - Start the counters of this CPU.
 * @pmu: Unused: see refpmu_here().
 *
 * Calls nest with refpmu_pmu_disable(). A pending interrupt is delivered at the end.
 *
 * Context: Interrupts off.
 */
static void refpmu_pmu_enable(struct pmu *pmu)
{
	struct refpmu_cpu *cpuc = refpmu_here();

	refpmu_log_here(cpuc, REFPMU_CALL_ENABLE, 0, 0);
	switch_on(cpuc);
}

/**
 * refpmu_pmu_disable() - Stop the counters of this CPU.
 * @pmu: Unused: see refpmu_here().
 *
 * An interrupt that arrives until refpmu_pmu_enable() stays pending.
 *
 * Context: Interrupts off.
 */
static void refpmu_pmu_disable(struct pmu *pmu)
{
	struct refpmu_cpu *cpuc = refpmu_here();

	refpmu_log_here(cpuc, REFPMU_CALL_DISABLE, 0, 0);
	switch_off(cpuc);
}

/**
 * refpmu_start_txn() - Begin a transaction.
 * @pmu: Unused: see refpmu_here().
 * @flags: PERF_PMU_TXN_*.
 *
 * Events that are added in an ADD transaction get their counters at its commit. A READ transaction
 * needs no assignment of counters. The driver only records it until it ends.
 *
 * Context: Interrupts off.
 */
static void refpmu_start_txn(struct pmu *pmu, unsigned int flags)
{
	struct refpmu_cpu *cpuc = refpmu_here();

	refpmu_log_here(cpuc, REFPMU_CALL_START_TXN, flags, 0);
	WARN_ON_ONCE(cpuc->txn);
	cpuc->txn = flags;
	if (flags & ~PERF_PMU_TXN_ADD)
		return;
	switch_off(cpuc);
	cpuc->n_before_txn = cpuc->n_events;
}

/**
 * refpmu_commit_txn() - Assign counters to the events of a transaction, and end it.
 * @pmu: Unused: see refpmu_here().
 *
 * After a failure the transaction stays open; perf deletes the members and cancels it.
 *
 * Context: Interrupts off.
 * Return: 0; -EAGAIN if not all events get a counter.
 */
static int refpmu_commit_txn(struct pmu *pmu)
{
	struct refpmu_cpu *cpuc = refpmu_here();
	const unsigned int flags = cpuc->txn;
	int err;

	refpmu_log_here(cpuc, REFPMU_CALL_COMMIT_TXN, flags, 0);
	WARN_ON_ONCE(!flags);
	if (flags & ~PERF_PMU_TXN_ADD) {
		cpuc->txn = 0;
		return 0;
	}
	err = refpmu_schedule(cpuc);
	if (err)
		return err;
	cpuc->txn = 0;
	switch_on(cpuc);
	return 0;
}

/**
 * refpmu_cancel_txn() - End a transaction without its events.
 * @pmu: Unused: see refpmu_here().
 *
 * Context: Interrupts off.
 */
static void refpmu_cancel_txn(struct pmu *pmu)
{
	struct refpmu_cpu *cpuc = refpmu_here();
	const unsigned int flags = cpuc->txn;

	refpmu_log_here(cpuc, REFPMU_CALL_CANCEL_TXN, flags, 0);
	WARN_ON_ONCE(!flags);
	cpuc->txn = 0;
	if (flags & ~PERF_PMU_TXN_ADD)
		return;
	cpuc->n_events = cpuc->n_before_txn;
	switch_on(cpuc);
}

/**
 * refpmu_check_period() - Check a new period of an event.
 * @event: The event.
 * @value: The period, or the frequency of an event with a frequency.
 *
 * Context: A task.
 * Return: 0; -EINVAL if the device cannot count such a period.
 */
static int refpmu_check_period(struct perf_event *event, u64 value)
{
	refpmu_log_call(REFPMU_CALL_CHECK_PERIOD, event, value);
	return refpmu_config_check_period(value, &to_refpmu(event->pmu)->caps);
}

/*
 * User space cannot read the model's counters, so a task needs no permission for that. The callback
 * only writes to the log.
 */
static void refpmu_event_mapped(struct perf_event *event, struct mm_struct *mm)
{
	refpmu_log_call(REFPMU_CALL_EVENT_MAPPED, event, 0);
}

static void refpmu_event_unmapped(struct perf_event *event, struct mm_struct *mm)
{
	refpmu_log_call(REFPMU_CALL_EVENT_UNMAPPED, event, 0);
}

/*
 * There is no event_idx: user space cannot read the model's counters. Without the callback perf
 * publishes index 0, "not readable".
 */
const struct pmu refpmu_pmu_ops = {
	.module = THIS_MODULE,
	.attr_groups = refpmu_attr_groups,
	.task_ctx_nr = perf_hw_context,
	.capabilities = PERF_PMU_CAP_EXTENDED_HW_TYPE | REFPMU_COMPAT_CAPS,
	.event_init = refpmu_event_init,
	.add = refpmu_add,
	.del = refpmu_del,
	.start = refpmu_start,
	.stop = refpmu_stop,
	.read = refpmu_read,
	.pmu_enable = refpmu_pmu_enable,
	.pmu_disable = refpmu_pmu_disable,
	.start_txn = refpmu_start_txn,
	.commit_txn = refpmu_commit_txn,
	.cancel_txn = refpmu_cancel_txn,
	.check_period = refpmu_check_period,
	.event_mapped = refpmu_event_mapped,
	.event_unmapped = refpmu_event_unmapped,
	REFPMU_COMPAT_FILTER,
	.sched_task = refpmu_sched_task,
#ifdef REFPMU_COMPAT_SWAPS_CONTEXTS
	.swap_task_ctx = refpmu_swap_task_ctx,
#endif
};
