// SPDX-License-Identifier: GPL-2.0-only
/* The stimulus port of refpmu_trace, through which a test generates branches. */
#include <linux/iopoll.h>
#include <linux/module.h>
#include <linux/sched/signal.h>

#include "trace.h"

static struct refpmu_trace_cpu *here(void)
{
	return per_cpu_ptr(refpmu_trace_cpus, raw_smp_processor_id());
}

/* Wait, with interrupts on, until the interrupt has been handled. */
static int wait_until_handled(struct refpmu_trace_cpu *t)
{
	bool busy;
	int err = read_poll_timeout(irq_work_is_busy, busy, !busy, 0, USEC_PER_SEC, false, &t->pmi);

	return err || refpmu_trace_line(t) ? -EIO : 0;
}

/* Raise the interrupt if the line is up. Interrupts must stay off since the stimulus. */
static void raise_if_asserted(struct refpmu_trace_cpu *t)
{
	if (refpmu_trace_line(t))
		refpmu_trace_raise(t);
}

/*
 * If the line is up, raise the interrupt and wait until it is handled. Preemption off, interrupts
 * on.
 */
static int handle_pending(struct refpmu_trace_cpu *t)
{
	unsigned long irqs;

	local_irq_save(irqs);
	raise_if_asserted(t);
	local_irq_restore(irqs);
	return wait_until_handled(t);
}

/* Generate one branch, and wait until its interrupt is handled. */
static int generate_branch(struct refpmu_trace_cpu *t, const struct refpmu_branch_entry *entry,
			   u64 *done)
{
	const struct refpmu_branch branch = refpmu_port_branch(entry);
	const struct refpmu_origin origin = {
		.privilege = entry->privilege,
		.ip = entry->from,
	};
	unsigned long irqs;
	int err;

	preempt_disable();
	err = handle_pending(t);
	if (!err) {
		local_irq_save(irqs);
		*done += refpmu_model_branch(&t->model, &branch, &origin, t->line_held).done;
		raise_if_asserted(t);
		local_irq_restore(irqs);
		err = wait_until_handled(t);
	}
	preempt_enable();
	return err;
}

/* The caller may be preempted between branches; its per-task events are then off. */
static int run_branches(struct refpmu_port_request *req)
{
	struct refpmu_branches *branches = &req->arg.branches;
	const struct refpmu_branch_entry *entries = req->data;
	int err = 0;

	while (!err && branches->done < branches->count) {
		err = generate_branch(here(), &entries[branches->done], &branches->done);
		if (!err && fatal_signal_pending(req->caller))
			err = -EINTR;
		cond_resched();
	}
	return err;
}

static int run_reg(struct refpmu_port_request *req)
{
	struct refpmu_reg *reg = &req->arg.reg;
	struct refpmu_trace_cpu *t = here();
	unsigned long irqs;
	int err;

	preempt_disable();
	local_irq_save(irqs);
	err = refpmu_port_access(&t->model, reg);
	if (!err && reg->write)
		raise_if_asserted(t);
	local_irq_restore(irqs);
	if (!err && reg->write)
		err = wait_until_handled(t);
	preempt_enable();
	return err;
}

static int set_line(struct refpmu_trace_cpu *t, bool hold)
{
	int err;

	preempt_disable();
	WRITE_ONCE(t->line_held, hold);
	err = handle_pending(t);
	preempt_enable();
	return err;
}

static int run_line(struct refpmu_port_request *req)
{
	return set_line(here(), req->arg.line.hold);
}

static int run_stats(struct refpmu_port_request *req)
{
	struct refpmu_stats *stats = &req->arg.stats;
	struct refpmu_trace_cpu *t = here();
	unsigned long irqs;

	local_irq_save(irqs);
	refpmu_journal_stats(&t->journal, stats);
	stats->used = t->event ? 1 : 0;
	stats->disable_depth = 0;
	local_irq_restore(irqs);
	stats->calls[REFPMU_CALL_EVENT_INIT] = atomic64_read(&refpmu_trace_totals.inits);
	stats->calls[REFPMU_CALL_DESTROY] = atomic64_read(&refpmu_trace_totals.destroys);
	stats->live_events = atomic64_read(&refpmu_trace_totals.live);
	return 0;
}

static int run_reset(struct refpmu_port_request *req)
{
	struct refpmu_trace_cpu *t = here();
	unsigned long irqs;
	int err = set_line(t, false);

	local_irq_save(irqs);
	refpmu_journal_reset(&t->journal);
	local_irq_restore(irqs);
	return err;
}

static int ioctl_reset(struct refpmu_port_request *req)
{
	int err;

	req->run = run_reset;
	err = refpmu_port_run_on_all(req);
	atomic64_set(&refpmu_trace_totals.inits, 0);
	atomic64_set(&refpmu_trace_totals.destroys, 0);
	return err;
}

static int ioctl_info(struct refpmu_port_request *req)
{
	req->arg.info = (struct refpmu_info){
		.size = sizeof(struct refpmu_info),
		.features = REFPMU_FEATURE_TRACE,
	};
	return 0;
}

static struct refpmu_journal *journal(struct refpmu_port *port, unsigned int cpu)
{
	return &per_cpu_ptr(refpmu_trace_cpus, cpu)->journal;
}

static const struct refpmu_port_handler handlers[] = {
	{ .cmd = REFPMU_IOC_RESET, .in_caller = ioctl_reset },
	{ .cmd = REFPMU_IOC_INFO, .in_caller = ioctl_info },
	{ .cmd = REFPMU_IOC_BRANCHES, .in_caller = refpmu_port_branches,
	  .run = run_branches },
	{ .cmd = REFPMU_IOC_REG, .run = run_reg },
	{ .cmd = REFPMU_IOC_LINE, .run = run_line },
	{ .cmd = REFPMU_IOC_LOG, .in_caller = refpmu_port_log },
	{ .cmd = REFPMU_IOC_STATS, .run = run_stats },
	{}
};

static struct refpmu_port port = {
	.handlers = handlers,
	.journal = journal,
};

int refpmu_trace_port_register(const char *name)
{
	return refpmu_port_register(&port, name);
}

void refpmu_trace_port_unregister(void)
{
	refpmu_port_unregister(&port);
}
