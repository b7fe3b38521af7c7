// SPDX-License-Identifier: GPL-2.0-only
/* Fill in perf_sample_data. No other file does that. */
#include <linux/sched/task_stack.h>

#include "compat/compat.h"
#include "lbr.h"
#include "sample.h"

/* Get the registers of the user task, if there is one. */
static void user_regs(struct refpmu_cpu *cpuc, struct pt_regs *to)
{
	struct pt_regs *cause = &cpuc->cause.regs;

	if (cpuc->in_handler && user_mode(cause))
		*to = *cause;
	else if (current->mm && !(current->flags & PF_KTHREAD))
		*to = *task_pt_regs(current);
	else
		refpmu_compat_user_regs(to);
}

/*
 * Get the registers for a sample of @event. An event that excludes the kernel gets user registers
 * even if the interrupt was late and arrived in the kernel.
 */
static void cause_regs(struct refpmu_cpu *cpuc, const struct perf_event *event, struct pt_regs *to)
{
	struct refpmu_cause *cause = &cpuc->cause;
	const bool from_user = cause->origin.privilege == REFPMU_USER;
	const bool user = from_user || event->attr.exclude_kernel;

	if (user)
		user_regs(cpuc, to);
	else
		*to = cause->regs;
	if (cause->origin.ip && user == from_user)
		instruction_pointer_set(to, cause->origin.ip);
}

/*
 * Return the data address for a sample. An event that excludes the kernel must not get an address
 * that the kernel accessed.
 */
static u64 cause_address(const struct refpmu_cpu *cpuc, const struct perf_event *event)
{
	const struct refpmu_origin *origin = &cpuc->cause.origin;

	return event->attr.exclude_kernel && origin->privilege != REFPMU_USER ? 0 : origin->addr;
}

static bool in_kernel(u64 address)
{
	return address >> 63;
}

/*
 * Get the registers for a sample from @record. Registers that the record does not have are those of
 * the current context.
 */
static void record_regs(struct refpmu_cpu *cpuc, const struct perf_event *event,
			const struct refpmu_record *record, struct pt_regs *to)
{
	const bool kernel = in_kernel(record->ip);

	if (!record->ip) {
		cause_regs(cpuc, event, to);
		return;
	}
	if (!kernel || event->attr.exclude_kernel)
		user_regs(cpuc, to);
	else if (cpuc->in_handler && !user_mode(&cpuc->cause.regs))
		*to = cpuc->cause.regs;
	else
		refpmu_compat_kernel_regs(to);
	/* An event that excludes the kernel must not get a kernel address from the record. */
	if (kernel && event->attr.exclude_kernel)
		return;
	if (record->has_gprs)
		refpmu_compat_set_gprs(to, &record->gprs);
	refpmu_compat_set_exact_ip(to, record->ip);
}

static void add_branches(struct refpmu_cpu *cpuc, struct perf_event *event,
			 struct perf_sample_data *data)
{
	struct refpmu_lbr *lbr = &cpuc->lbr;

	if (!(event->hw.flags & REFPMU_HW_BRANCHES))
		return;
	refpmu_lbr_read(cpuc);
	refpmu_compat_save_branches(data, event,
				    refpmu_lbr_stack(cpuc, event, lbr->raw, lbr->n, lbr->index));
}

static void add_access(const struct perf_event *event, const struct refpmu_pebs_memory *memory,
		       struct perf_sample_data *data)
{
	data->data_src.val = memory->source;
	data->weight.full = memory->latency;
	data->txn = memory->transaction;
	data->sample_flags |= event->attr.sample_type &
			      (PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT_TYPE |
			       PERF_SAMPLE_TRANSACTION);
}

static void add_record(struct refpmu_cpu *cpuc, struct perf_event *event,
		       const struct refpmu_record *record, struct perf_sample_data *data)
{
	if (record->has_memory)
		add_access(event, &record->memory, data);
	/*
	 * The device uses perf's default clock. An event with another clock gets its time from
	 * perf.
	 */
	if (record->time && !event->attr.use_clockid) {
		data->time = record->time;
		data->sample_flags |= event->attr.sample_type & PERF_SAMPLE_TIME;
	}
	/* The record does not contain the hardware index of the newest branch. */
	if (event->hw.flags & REFPMU_HW_BRANCHES)
		refpmu_compat_save_branches(data, event,
					    refpmu_lbr_stack(cpuc, event, record->lbr,
							     record->n_lbr, ~0ULL));
}

/**
 * refpmu_sample() - Write a sample of an overflow that has just happened.
 * @cpuc: State of this CPU.
 * @event: The event.
 *
 * Return: Nonzero if perf wants no more samples for now.
 */
int refpmu_sample(struct refpmu_cpu *cpuc, struct perf_event *event)
{
	struct perf_sample_data data;
	struct pt_regs regs;

	local64_inc(&cpuc->journal.overflows);
	perf_sample_data_init(&data, cause_address(cpuc, event), event->hw.last_period);
	cause_regs(cpuc, event, &regs);
	add_branches(cpuc, event, &data);
	return refpmu_compat_overflow(event, &data, &regs);
}

/**
 * refpmu_sample_record() - Write a sample of a precise record.
 * @cpuc: State of this CPU.
 * @event: The event.
 * @record: The record.
 * @last: No further record of this event follows in this drain.
 *
 * When several records are drained together, only the last one is reported to perf as an overflow.
 * Otherwise perf would throttle the event because of a full buffer. An event whose user reacts to
 * each overflow reports each record.
 *
 * Return: Nonzero if perf wants no more samples for now.
 */
int refpmu_sample_record(struct refpmu_cpu *cpuc, struct perf_event *event,
			 const struct refpmu_record *record, bool last)
{
	perf_overflow_handler_t handler;
	struct perf_sample_data data;
	struct pt_regs regs;

	local64_inc(&cpuc->journal.overflows);
	perf_sample_data_init(&data, record->has_memory ? record->memory.address : 0,
			      event->hw.last_period);
	record_regs(cpuc, event, record, &regs);
	add_record(cpuc, event, record, &data);
	if (last || event->attr.sigtrap || atomic_read(&event->event_limit) ||
	    refpmu_compat_has_program(event))
		return refpmu_compat_overflow(event, &data, &regs);
	handler = READ_ONCE(event->overflow_handler);
	handler(event, &data, &regs);
	return 0;
}
