// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branch records: set up for the events that use them, read for samples, and kept apart from task
 * to task. Nothing that was recorded for one task is there when another one runs; a stack of calls
 * is saved and restored with its task.
 */
#include <linux/slab.h>

#include "refpmu.h"

/* The calls that a task has open while it does not run. */
struct refpmu_task_calls {
	unsigned int n;
	struct refpmu_pebs_lbr raw[REFPMU_MAX_LBR]; /* newest first */
};

/* Record branches, or stop it. A PMI freezes the records, so that they end at the overflow. */
void refpmu_lbr_switch(struct refpmu_cpu *cpuc, bool on)
{
	if (cpuc->lbr.users)
		refpmu_bus_write(cpuc, REFPMU_REG_DEBUGCTL,
				 on ? REFPMU_DEBUGCTL_LBR | REFPMU_DEBUGCTL_FREEZE_LBRS : 0);
}

/* Read entry @i; false if there is nothing. The ones older than that are then empty too. */
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

/* Read all there is. */
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

/* Forget all there is. */
static void clear(struct refpmu_cpu *cpuc)
{
	const struct refpmu_pebs_lbr nothing = { .from = 0 };
	const unsigned int depth = cpuc->model.params.lbr;
	unsigned int i;

	refpmu_lbr_read(cpuc);
	for (i = 0; i < cpuc->lbr.n; i++)
		write_entry(cpuc, (cpuc->lbr.index - i) & (depth - 1), &nothing);
}

/* perf's view of @n entries of @raw, newest first, that @event may see. */
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

static bool stack_of_calls(const struct refpmu_lbr *lbr)
{
	return lbr->select & REFPMU_LBR_CALL_STACK;
}

/*
 * @event has a counter from now on, until refpmu_detach(): perf tells of switches of tasks. The
 * first user of the branch records sets them up, and finds nothing of others'.
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

/* @event is about to give its counter up. Nothing to do if it was not attached. PMU disabled. */
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

/* The records are clear. They are the task's again, and no longer what was saved. */
static void restore(struct refpmu_cpu *cpuc, struct refpmu_task_calls *calls)
{
	unsigned int i;

	for (i = 0; i < calls->n; i++)
		write_entry(cpuc, calls->n - 1 - i, &calls->raw[i]);
	if (calls->n)
		refpmu_bus_write(cpuc, REFPMU_REG_LBR_TOS, calls->n - 1);
	calls->n = 0;
}

static struct refpmu_cpu *cpu_of_kind(void)
{
	unsigned int i;

	for (i = 0; i < refpmu_devices_count; i++) {
		if (cpumask_test_cpu(smp_processor_id(), &refpmu_devices[i].supported))
			return refpmu_this_cpu(&refpmu_devices[i]);
	}
	return NULL;
}

/*
 * The CPU leaves a task, or has come to one: the old one's records become samples while it is
 * still current. Older kernels give no context for events of the CPU, so it does not say whose
 * this is.
 */
REFPMU_COMPAT_SCHED_TASK(refpmu_sched_task)
{
	struct refpmu_cpu *cpuc = cpu_of_kind();
	struct refpmu_task_calls *calls = refpmu_compat_task_data(context);

	if (!cpuc)
		return;
	refpmu_log_here(cpuc, REFPMU_CALL_SCHED_TASK, sched_in, 0);
	if (!sched_in)
		refpmu_precise_drain(cpuc);
	if (!cpuc->lbr.users)
		return;
	if (!stack_of_calls(&cpuc->lbr))
		calls = NULL;
	if (!sched_in && calls)
		save(cpuc, calls);
	if (!sched_in)
		return;
	clear(cpuc);
	if (calls)
		restore(cpuc, calls);
}

/* Two tasks exchange their contexts, events and all; what was saved stays with the task. */
void refpmu_swap_task_ctx(struct refpmu_compat_context *prev, struct refpmu_compat_context *next)
{
	struct refpmu_cpu *cpuc = cpu_of_kind();

	if (cpuc)
		refpmu_log_device(cpuc->dev, REFPMU_CALL_SWAP_TASK_CTX, 0, 0);
	swap(prev->task_ctx_data, next->task_ctx_data);
}

int refpmu_lbr_setup(struct refpmu_device *dev)
{
	if (!dev->caps.lbr)
		return 0;
	dev->pmu.task_ctx_cache = kmem_cache_create(dev->name, sizeof(struct refpmu_task_calls), 0,
						    0, NULL);
	return dev->pmu.task_ctx_cache ? 0 : -ENOMEM;
}

/* perf frees what tasks have after a grace period. */
void refpmu_lbr_teardown(struct refpmu_device *dev)
{
	rcu_barrier();
	kmem_cache_destroy(dev->pmu.task_ctx_cache);
}
