// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intercept the driver's callbacks: count each call, log it in the journal of the CPU, and pass it
 * on. The driver is not modified.
 */
#include <linux/err.h>
#include <linux/init.h>
#include <linux/kprobes.h>

#include "msr.h"

static struct pmu driver; /* the PMU before its callbacks were replaced */

static void note(enum refpmu_call call, const struct perf_event *event, u64 flags)
{
	refpmu_log_device(&refpmu_msr_device, call, flags, event ? event->id : 0);
}

/*
 * Update the set of used counters, after the driver has assigned them. On this CPU, with the PMU
 * disabled.
 */
static void update_used_counters(struct refpmu_cpu *cpuc)
{
	u64 used = 0;
	unsigned int i;

	for (i = 0; i < cpuc->n_events; i++) {
		if (cpuc->events[i]->hw.idx >= 0)
			used |= BIT_ULL(cpuc->events[i]->hw.idx);
	}
	cpuc->used = used;
}

static void enable(struct pmu *pmu)
{
	struct refpmu_cpu *cpuc = this_cpu_ptr(&refpmu_msr_cpus);

	note(REFPMU_CALL_ENABLE, NULL, 0);
	cpuc->disable_depth--;
	driver.pmu_enable(pmu);
	update_used_counters(cpuc);
}

static void disable(struct pmu *pmu)
{
	note(REFPMU_CALL_DISABLE, NULL, 0);
	this_cpu_ptr(&refpmu_msr_cpus)->disable_depth++;
	driver.pmu_disable(pmu);
}

static void destroy(struct perf_event *event)
{
	void (*theirs)(struct perf_event *event) = event->pmu_private;

	note(REFPMU_CALL_DESTROY, event, 0);
	atomic64_inc(&refpmu_msr_device.destroys);
	atomic64_dec(&refpmu_msr_device.live);
	theirs(event);
}

/*
 * Save the driver's destroy function in pmu_private: it depends on the event, because events with
 * branch records have another one. Core PMU drivers do not use pmu_private.
 */
static int event_init(struct perf_event *event)
{
	int err;

	note(REFPMU_CALL_EVENT_INIT, event, 0);
	atomic64_inc(&refpmu_msr_device.inits);
	err = driver.event_init(event);
	if (err || WARN_ON_ONCE(!event->destroy))
		return err;
	event->pmu_private = event->destroy;
	event->destroy = destroy;
	atomic64_inc(&refpmu_msr_device.live);
	return 0;
}

static int add(struct perf_event *event, int flags)
{
	struct refpmu_cpu *cpuc = this_cpu_ptr(&refpmu_msr_cpus);
	int err;

	note(REFPMU_CALL_ADD, event, flags);
	err = driver.add(event, flags);
	if (!err && !WARN_ON_ONCE(cpuc->n_events == REFPMU_MAX_COUNTERS))
		cpuc->events[cpuc->n_events++] = event;
	return err;
}

static void del(struct perf_event *event, int flags)
{
	struct refpmu_cpu *cpuc = this_cpu_ptr(&refpmu_msr_cpus);
	unsigned int i, kept = 0;

	note(REFPMU_CALL_DEL, event, flags);
	driver.del(event, flags);
	for (i = 0; i < cpuc->n_events; i++) {
		if (cpuc->events[i] != event)
			cpuc->events[kept++] = cpuc->events[i];
	}
	cpuc->n_events = kept;
	update_used_counters(cpuc);
}

static void start(struct perf_event *event, int flags)
{
	note(REFPMU_CALL_START, event, flags);
	driver.start(event, flags);
}

static void stop(struct perf_event *event, int flags)
{
	note(REFPMU_CALL_STOP, event, flags);
	driver.stop(event, flags);
}

static void read(struct perf_event *event)
{
	note(REFPMU_CALL_READ, event, 0);
	driver.read(event);
}

static void start_txn(struct pmu *pmu, unsigned int flags)
{
	note(REFPMU_CALL_START_TXN, NULL, flags);
	driver.start_txn(pmu, flags);
}

static int commit_txn(struct pmu *pmu)
{
	note(REFPMU_CALL_COMMIT_TXN, NULL, 0);
	return driver.commit_txn(pmu);
}

static void cancel_txn(struct pmu *pmu)
{
	note(REFPMU_CALL_CANCEL_TXN, NULL, 0);
	driver.cancel_txn(pmu);
}

static int check_period(struct perf_event *event, u64 value)
{
	note(REFPMU_CALL_CHECK_PERIOD, event, value);
	return driver.check_period(event, value);
}

static void event_mapped(struct perf_event *event, struct mm_struct *mm)
{
	note(REFPMU_CALL_EVENT_MAPPED, event, 0);
	driver.event_mapped(event, mm);
}

static void event_unmapped(struct perf_event *event, struct mm_struct *mm)
{
	note(REFPMU_CALL_EVENT_UNMAPPED, event, 0);
	driver.event_unmapped(event, mm);
}

/* Count the samples that the driver passes to perf. */
static int overflow(struct kprobe *probe, struct pt_regs *regs)
{
	const struct perf_event *event = (void *)regs_get_kernel_argument(regs, 0);

	if (event->pmu->add == add && event->attr.sample_period)
		local64_inc(&this_cpu_ptr(&refpmu_msr_cpus)->journal.overflows);
	return 0;
}

static struct kprobe overflow_probe = {
	.symbol_name = "perf_event_overflow",
	.pre_handler = overflow,
};

/* Replace the callbacks. No event may exist yet. Return 0 or a negative errno. */
int refpmu_msr_watch(struct pmu *pmu)
{
	driver = *pmu;
	pmu->pmu_enable = enable;
	pmu->pmu_disable = disable;
	pmu->event_init = event_init;
	pmu->add = add;
	pmu->del = del;
	pmu->start = start;
	pmu->stop = stop;
	pmu->read = read;
	pmu->start_txn = start_txn;
	pmu->commit_txn = commit_txn;
	pmu->cancel_txn = cancel_txn;
	pmu->check_period = check_period;
	pmu->event_mapped = event_mapped;
	pmu->event_unmapped = event_unmapped;
	return register_kprobe(&overflow_probe);
}
