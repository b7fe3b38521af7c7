// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branch records: set them up for the events that use them, read them for samples, and keep the
 * records of different tasks apart. A task never sees the records of another task. A call stack is
 * saved and restored with its task.
 */
#include <linux/slab.h>

#include "bus.h"
#include "compat/compat.h"
#include "lbr.h"

/* The open calls of a task that is not running. */
struct refpmu_task_calls {
	unsigned int n;
	struct refpmu_pebs_lbr raw[REFPMU_MAX_LBR]; /* newest first */
};

/* Start or stop recording. A PMI freezes the records, so that they end at the overflow. */
void refpmu_lbr_switch(struct refpmu_cpu *cpuc, bool on)
{
	if (cpuc->lbr.users)
		refpmu_bus_write(cpuc, REFPMU_REG_DEBUGCTL,
				 on ? REFPMU_DEBUGCTL_LBR | REFPMU_DEBUGCTL_FREEZE_LBRS : 0);
}

/* Read entry @i. Return false if it is empty; all older entries are empty then, too. */
static bool read_entry(struct refpmu_cpu *cpuc, unsigned int i, struct refpmu_pebs_lbr *entry)
{
	entry->from = refpmu_bus_read(cpuc, REFPMU_REG_LBR_FROM(i));
	entry->to = refpmu_bus_read(cpuc, REFPMU_REG_LBR_TO(i));
	entry->info = refpmu_bus_read(cpuc, REFPMU_REG_LBR_INFO(i));
	return entry->from || entry->to;
}

static void write_entry(struct refpmu_cpu *cpuc, unsigned int i,
			const struct refpmu_pebs_lbr *entry)
{
	refpmu_bus_write(cpuc, REFPMU_REG_LBR_FROM(i), entry->from);
	refpmu_bus_write(cpuc, REFPMU_REG_LBR_TO(i), entry->to);
	refpmu_bus_write(cpuc, REFPMU_REG_LBR_INFO(i), entry->info);
}

/* Read all entries into @cpuc. */
void refpmu_lbr_read(struct refpmu_cpu *cpuc)
{
	struct refpmu_lbr *lbr = &cpuc->lbr;
	const unsigned int depth = cpuc->model.params.lbr;

	lbr->index = refpmu_bus_read(cpuc, REFPMU_REG_LBR_TOS);
	for (lbr->n = 0; lbr->n < depth; lbr->n++) {
		if (!read_entry(cpuc, (lbr->index - lbr->n) & (depth - 1), &lbr->raw[lbr->n]))
			break;
	}
}

/* Clear all entries. */
static void clear(struct refpmu_cpu *cpuc)
{
	const struct refpmu_pebs_lbr nothing = { .from = 0 };
	const unsigned int depth = cpuc->model.params.lbr;
	unsigned int i;

	refpmu_lbr_read(cpuc);
	for (i = 0; i < cpuc->lbr.n; i++)
		write_entry(cpuc, (cpuc->lbr.index - i) & (depth - 1), &nothing);
}

/**
 * refpmu_lbr_stack() - Convert branch records to the format of perf.
 * @cpuc: State of this CPU; it holds the result until the next call.
 * @event: The event, whose filter is applied.
 * @raw: The records, newest first.
 * @n: Number of records.
 * @index: Index of the newest record in the hardware, or ~0ULL.
 *
 * Return: The records that match the event's branch_sample_type.
 */
struct perf_branch_stack *refpmu_lbr_stack(struct refpmu_cpu *cpuc, const struct perf_event *event,
					   const struct refpmu_pebs_lbr *raw, unsigned int n,
					   u64 index)
{
	struct refpmu_lbr *lbr = &cpuc->lbr;
	unsigned int i;

	n = min_t(unsigned int, n, REFPMU_MAX_LBR);
	n = refpmu_branch_filter(raw, n, event->hw.branch_reg.reg, lbr->filtered);
	for (i = 0; i < n; i++) {
		const struct refpmu_branch_sample *from = &lbr->filtered[i];

		lbr->stack.entries[i] = (struct perf_branch_entry){
			.from = from->from,
			.to = from->to,
			.mispred = from->mispred,
			.predicted = from->predicted,
			.in_tx = from->in_tx,
			.abort = from->abort,
			.cycles = from->cycles,
			.type = from->type,
			.priv = from->priv,
		};
	}
	lbr->stack.nr = n;
	lbr->stack.hw_idx = index;
	return (struct perf_branch_stack *)&lbr->stack;
}

static bool in_call_stack_mode(const struct refpmu_lbr *lbr)
{
	return lbr->select & REFPMU_LBR_CALL_STACK;
}

/**
 * refpmu_attach() - Set up branch records and sched_task for an event.
 * @cpuc: State of this CPU.
 * @event: The event; it has a counter.
 *
 * perf calls sched_task at context switches until refpmu_detach(). The first user of branch records
 * clears the records of earlier users and sets the selector.
 */
void refpmu_attach(struct refpmu_cpu *cpuc, struct perf_event *event)
{
	struct refpmu_lbr *lbr = &cpuc->lbr;

	if (event->hw.flags & REFPMU_HW_ATTACHED ||
	    !(event->hw.flags & (REFPMU_HW_BRANCHES | REFPMU_HW_PRECISE)))
		return;
	event->hw.flags |= REFPMU_HW_ATTACHED;
	refpmu_compat_sched_cb_inc(event->pmu);
	if (!(event->hw.flags & REFPMU_HW_BRANCHES) || lbr->users++)
		return;
	lbr->select = event->hw.branch_reg.config;
	clear(cpuc);
	refpmu_bus_write(cpuc, REFPMU_REG_LBR_SELECT, lbr->select);
}

/**
 * refpmu_detach() - Undo refpmu_attach().
 * @cpuc: State of this CPU; the PMU is disabled.
 * @event: The event, before it loses its counter; it need not be attached.
 */
void refpmu_detach(struct refpmu_cpu *cpuc, struct perf_event *event)
{
	if (!(event->hw.flags & REFPMU_HW_ATTACHED))
		return;
	event->hw.flags &= ~REFPMU_HW_ATTACHED;
	refpmu_compat_sched_cb_dec(event->pmu);
	if (!(event->hw.flags & REFPMU_HW_BRANCHES))
		return;
	if (cpuc->lbr.users == 1)
		refpmu_lbr_switch(cpuc, false);
	cpuc->lbr.users--;
}

static void save(struct refpmu_cpu *cpuc, struct refpmu_task_calls *calls)
{
	refpmu_lbr_read(cpuc);
	calls->n = cpuc->lbr.n;
	memcpy(calls->raw, cpuc->lbr.raw, calls->n * sizeof(*calls->raw));
}

/* Write the saved calls to the records, which must be clear, and discard the saved copy. */
static void restore(struct refpmu_cpu *cpuc, struct refpmu_task_calls *calls)
{
	unsigned int i;

	for (i = 0; i < calls->n; i++)
		write_entry(cpuc, calls->n - 1 - i, &calls->raw[i]);
	if (calls->n)
		refpmu_bus_write(cpuc, REFPMU_REG_LBR_TOS, calls->n - 1);
	calls->n = 0;
}

/**
 * refpmu_lbr_switch_task() - Keep the branch records of two tasks apart.
 * @cpuc: State of this CPU.
 * @calls: The saved call stack of the task, or NULL.
 * @sched_in: The task begins to run; otherwise it leaves the CPU.
 *
 * A call stack is saved and restored with its task.
 */
void refpmu_lbr_switch_task(struct refpmu_cpu *cpuc, struct refpmu_task_calls *calls,
			    bool sched_in)
{
	if (!cpuc->lbr.users)
		return;
	if (!in_call_stack_mode(&cpuc->lbr))
		calls = NULL;
	if (!sched_in && calls)
		save(cpuc, calls);
	if (!sched_in)
		return;
	clear(cpuc);
	if (calls)
		restore(cpuc, calls);
}

int refpmu_lbr_setup(struct refpmu_device *dev)
{
	if (!dev->caps.lbr)
		return 0;
	dev->pmu.task_ctx_cache = kmem_cache_create(dev->name, sizeof(struct refpmu_task_calls), 0,
						    0, NULL);
	return dev->pmu.task_ctx_cache ? 0 : -ENOMEM;
}

/* perf frees the saved calls of tasks after an RCU grace period. */
void refpmu_lbr_teardown(struct refpmu_device *dev)
{
	rcu_barrier();
	kmem_cache_destroy(dev->pmu.task_ctx_cache);
}
