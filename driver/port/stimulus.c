// SPDX-License-Identifier: GPL-2.0-only
/* The stimulus port of a core PMU, through which a test generates events in the device. */
#include <linux/iopoll.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "clock.h"
#include "interrupt.h"
#include "stimulus.h"

/* A stimulus: events, clock ticks, or branches. */
struct stimulus {
	bool clock;
	u16 code;
	u8 per_pulse;
	u32 skid;
	u64 n;
	u64 *done;
	const struct refpmu_branch_entry *branches; /* @n branches */
	struct refpmu_origin origin;
};

static struct refpmu_device *device(const struct refpmu_port_request *req)
{
	return container_of(req->port, struct refpmu_device, port);
}

/* Return the state of the current CPU. */
static struct refpmu_cpu *local_cpu(const struct refpmu_port_request *req)
{
	return per_cpu_ptr(device(req)->cpus, raw_smp_processor_id());
}

/*
 * Generate branches one after the other. Each starts where the previous one ended, as far as the
 * device can see.
 */
static struct refpmu_model_step branch(struct refpmu_cpu *cpuc, const struct stimulus *stim, u64 n,
				       bool run_on)
{
	struct refpmu_model_step step = {}, one;

	while (step.done < n && (run_on || !step.overflowed)) {
		const struct refpmu_branch_entry *entry = &stim->branches[*stim->done + step.done];
		const struct refpmu_branch branch = refpmu_port_branch(entry);

		cpuc->cause.origin = (struct refpmu_origin){
			.privilege = entry->privilege,
			.ip = entry->from,
			.time = refpmu_record_time(),
		};
		one = refpmu_model_branch(&cpuc->model, &branch, &cpuc->cause.origin, run_on);
		step.done += one.done;
		step.overflowed |= one.overflowed;
	}
	return step;
}

static struct refpmu_model_step generate(struct refpmu_cpu *cpuc, const struct stimulus *stim,
					 u64 n, bool run_on)
{
	const struct refpmu_stimulus stimulus = {
		.clock = stim->clock,
		.code = stim->code,
		.per_pulse = stim->per_pulse,
		.n = n,
		.run_on = run_on,
		.origin = &cpuc->cause.origin,
	};

	if (stim->branches)
		return branch(cpuc, stim, n, run_on);
	return refpmu_model_stimulate(&cpuc->model, &stimulus);
}

/*
 * Wait, with interrupts on, until the interrupt has been handled. The wait is bounded twice: by the
 * limit of handler runs, and by a timeout.
 */
static int wait_until_handled(struct refpmu_cpu *cpuc)
{
	bool busy;
	int err = read_poll_timeout(refpmu_pending, busy, !busy, 0, USEC_PER_SEC, false, cpuc);

	return err || refpmu_line(cpuc) ? -EIO : 0;
}

/*
 * Raise the interrupt if the line is up. Interrupts must stay off since the stimulus: a tick in
 * between would stop and restart events with a frequency, and their overflow would be lost.
 */
static void raise_if_asserted(struct refpmu_cpu *cpuc)
{
	if (refpmu_line(cpuc))
		refpmu_raise_pmi(cpuc);
	else
		refpmu_clock_arm(cpuc);
}

/*
 * If the line is up, raise the interrupt and wait until it is handled. Preemption off, interrupts
 * on.
 */
static int handle_pending(struct refpmu_cpu *cpuc)
{
	unsigned long irqs;

	local_irq_save(irqs);
	raise_if_asserted(cpuc);
	local_irq_restore(irqs);
	return wait_until_handled(cpuc);
}

/* Set the cause of the next interrupt: @origin, and the current registers. */
static void set_cause(struct refpmu_cpu *cpuc, const struct refpmu_origin *origin)
{
	cpuc->cause.origin = *origin;
	memset(&cpuc->cause.regs, 0, sizeof(cpuc->cause.regs));
	perf_fetch_caller_regs(&cpuc->cause.regs);
}

/*
 * Run to the next overflow or to the end of the stimulus, and wait until the overflow is handled.
 */
static int step(struct refpmu_cpu *cpuc, const struct stimulus *stim)
{
	struct refpmu_model_step now;
	unsigned long irqs;
	u64 left;
	int err = handle_pending(cpuc);

	if (err)
		return err;
	local_irq_save(irqs);
	refpmu_clock_sync(cpuc);
	set_cause(cpuc, &stim->origin);
	cpuc->cause.origin.time = refpmu_record_time();

	now = generate(cpuc, stim, stim->n - *stim->done, cpuc->line_held);
	*stim->done += now.done;
	left = stim->n - *stim->done;
	if (now.overflowed && !cpuc->line_held && stim->skid)
		*stim->done += generate(cpuc, stim, min_t(u64, stim->skid, left), true).done;
	raise_if_asserted(cpuc);
	local_irq_restore(irqs);
	return wait_until_handled(cpuc);
}

/*
 * The caller may be preempted between steps. Its per-task events are then off, and on again when it
 * resumes, so they miss no part of its stimulus.
 */
static int stimulate(struct refpmu_cpu *cpuc, const struct refpmu_port_request *req,
		     const struct stimulus *stim)
{
	int err;

	*stim->done = 0;
	do {
		preempt_disable();
		err = step(cpuc, stim);
		preempt_enable();
		if (!err && fatal_signal_pending(req->caller))
			err = -EINTR;
		cond_resched();
	} while (!err && *stim->done < stim->n);
	return err;
}

/*
 * Return the instruction pointer for samples. If none is given, a user stimulus gets that of the
 * caller, and a kernel stimulus gets that of the port.
 */
static u64 stimulus_ip(const struct refpmu_port_request *req, u64 ip, u32 privilege)
{
	return ip || privilege == REFPMU_PRIV_KERNEL ? ip : req->caller_ip;
}

static int run_pulse(struct refpmu_port_request *req)
{
	struct refpmu_pulse *pulse = &req->arg.pulse;
	const struct refpmu_regs *regs = req->data;
	struct stimulus stim = {
		.code = pulse->event,
		.per_pulse = pulse->per_pulse ?: 1,
		.skid = pulse->skid,
		.n = pulse->n,
		.done = &pulse->done,
		.origin = {
			.privilege = pulse->privilege,
			.latency = pulse->latency,
			.response = pulse->response,
			.ip = stimulus_ip(req, pulse->ip, pulse->privilege),
			.addr = pulse->addr,
			.source = pulse->source,
		},
	};

	static_assert(sizeof(stim.origin.gpr) == sizeof(regs->gpr));
	if (regs) {
		stim.origin.flags = regs->flags;
		memcpy(stim.origin.gpr, regs->gpr, sizeof(regs->gpr));
	}
	return stimulate(local_cpu(req), req, &stim);
}

static int ioctl_pulse(struct refpmu_port_request *req)
{
	const struct refpmu_pulse *pulse = &req->arg.pulse;
	struct refpmu_regs regs;

	if (pulse->regs) {
		if (copy_from_user(&regs, u64_to_user_ptr(pulse->regs), sizeof(regs)))
			return -EFAULT;
		req->data = &regs;
	}
	req->run = run_pulse;
	return refpmu_port_run_on(pulse->cpu, req);
}

static int run_advance(struct refpmu_port_request *req)
{
	struct refpmu_advance *advance = &req->arg.advance;
	const struct stimulus stim = {
		.clock = true,
		.skid = advance->skid,
		.n = advance->ticks,
		.done = &advance->done,
		.origin = {
			.privilege = advance->privilege,
			.ip = stimulus_ip(req, advance->ip, advance->privilege),
		},
	};

	if (READ_ONCE(local_cpu(req)->clock_mode) == REFPMU_CLOCK_AUTO) {
		advance->done = 0;
		return -EBUSY;
	}
	return stimulate(local_cpu(req), req, &stim);
}

static int run_branches(struct refpmu_port_request *req)
{
	struct refpmu_branches *branches = &req->arg.branches;
	const struct stimulus stim = {
		.branches = req->data,
		.n = branches->count,
		.done = &branches->done,
	};

	return stimulate(local_cpu(req), req, &stim);
}

static int run_clock(struct refpmu_port_request *req)
{
	unsigned long irqs;

	local_irq_save(irqs);
	refpmu_clock_mode(local_cpu(req), req->arg.clock.mode);
	local_irq_restore(irqs);
	return 0;
}

static int run_reg(struct refpmu_port_request *req)
{
	struct refpmu_cpu *cpuc = local_cpu(req);
	struct refpmu_reg *reg = &req->arg.reg;
	unsigned long irqs;
	int err;

	preempt_disable();
	local_irq_save(irqs);
	refpmu_clock_sync(cpuc);
	err = refpmu_port_access(&cpuc->model, reg);
	if (!err && reg->write)
		raise_if_asserted(cpuc);
	local_irq_restore(irqs);
	if (!err && reg->write)
		err = wait_until_handled(cpuc);
	preempt_enable();
	return err;
}

/*
 * An overflow that happened while the line was held keeps its origin, but its samples get the
 * current registers.
 */
static int set_line(struct refpmu_cpu *cpuc, bool hold)
{
	const struct refpmu_origin origin = cpuc->cause.origin;
	unsigned long irqs;
	int err;

	preempt_disable();
	local_irq_save(irqs);
	refpmu_clock_sync(cpuc);
	cpuc->line_held = hold;
	set_cause(cpuc, &origin);
	raise_if_asserted(cpuc);
	local_irq_restore(irqs);
	err = wait_until_handled(cpuc);
	preempt_enable();
	return err;
}

static int run_line(struct refpmu_port_request *req)
{
	return set_line(local_cpu(req), req->arg.line.hold);
}

/* An interrupt storm is a valid result of this request, not an error. */
static int run_inject(struct refpmu_port_request *req)
{
	const struct refpmu_origin origin = { .privilege = REFPMU_KERNEL };
	struct refpmu_inject *inject = &req->arg.inject;
	struct refpmu_cpu *cpuc = local_cpu(req);
	unsigned long irqs;
	u64 pmi, claimed;
	int err;

	preempt_disable();
	local_irq_save(irqs);
	refpmu_clock_sync(cpuc);
	pmi = local64_read(&cpuc->journal.pmi);
	claimed = local64_read(&cpuc->journal.pmi_claimed);
	set_cause(cpuc, &origin);
	err = refpmu_model_write(&cpuc->model, REFPMU_REG_GLOBAL_STATUS_SET, inject->status);
	if (!err && !cpuc->line_held)
		refpmu_raise_pmi(cpuc);
	local_irq_restore(irqs);
	if (!err)
		wait_until_handled(cpuc);
	inject->runs = local64_read(&cpuc->journal.pmi) - pmi;
	inject->claimed = local64_read(&cpuc->journal.pmi_claimed) - claimed;
	preempt_enable();
	return err;
}

static int run_stats(struct refpmu_port_request *req)
{
	struct refpmu_stats *stats = &req->arg.stats;
	struct refpmu_device *dev = device(req);
	struct refpmu_cpu *cpuc = local_cpu(req);
	unsigned long irqs;

	local_irq_save(irqs);
	refpmu_journal_stats(&cpuc->journal, stats);
	stats->used = cpuc->used;
	stats->disable_depth = cpuc->disable_depth;
	local_irq_restore(irqs);
	stats->calls[REFPMU_CALL_EVENT_INIT] = atomic64_read(&dev->inits);
	stats->calls[REFPMU_CALL_DESTROY] = atomic64_read(&dev->destroys);
	stats->live_events = atomic64_read(&dev->live);
	return 0;
}

static int run_reset(struct refpmu_port_request *req)
{
	struct refpmu_cpu *cpuc = local_cpu(req);
	unsigned long irqs;
	int err = set_line(cpuc, false);

	local_irq_save(irqs);
	refpmu_clock_mode(cpuc, REFPMU_CLOCK_AUTO);
	refpmu_journal_reset(&cpuc->journal);
	local_irq_restore(irqs);
	return err;
}

static int ioctl_reset(struct refpmu_port_request *req)
{
	struct refpmu_device *dev = device(req);
	int err;

	req->run = run_reset;
	err = refpmu_port_run_on_all(req);
	atomic64_set(&dev->inits, 0);
	atomic64_set(&dev->destroys, 0);
	return err;
}

static u32 features(const struct refpmu_device *dev)
{
	return (refpmu_pmi_is_nmi ? REFPMU_FEATURE_NMI : 0) |
	       (dev->params.records ? REFPMU_FEATURE_RECORDS : 0) |
	       (dev->params.trace ? REFPMU_FEATURE_TRACE : 0);
}

static int ioctl_info(struct refpmu_port_request *req)
{
	const struct refpmu_device *dev = device(req);

	req->arg.info = (struct refpmu_info){
		.size = sizeof(struct refpmu_info),
		.general = dev->params.general,
		.fixed = dev->params.fixed,
		.width = dev->params.width,
		.min_period = dev->caps.min_period,
		.lbr = dev->params.lbr,
		.features = features(dev),
	};
	return 0;
}

struct refpmu_journal *refpmu_stimulus_journal(struct refpmu_port *port, unsigned int cpu)
{
	const struct refpmu_device *dev = container_of(port, struct refpmu_device, port);

	return &per_cpu_ptr(dev->cpus, cpu)->journal;
}

const struct refpmu_port_handler refpmu_stimulus_handlers[] = {
	{ .cmd = REFPMU_IOC_RESET, .in_caller = ioctl_reset },
	{ .cmd = REFPMU_IOC_INFO, .in_caller = ioctl_info },
	{ .cmd = REFPMU_IOC_PULSE, .in_caller = ioctl_pulse },
	{ .cmd = REFPMU_IOC_CLOCK, .run = run_clock },
	{ .cmd = REFPMU_IOC_ADVANCE, .run = run_advance },
	{ .cmd = REFPMU_IOC_REG, .run = run_reg },
	{ .cmd = REFPMU_IOC_LINE, .run = run_line },
	{ .cmd = REFPMU_IOC_INJECT, .run = run_inject },
	{ .cmd = REFPMU_IOC_LOG, .in_caller = refpmu_port_log },
	{ .cmd = REFPMU_IOC_STATS, .run = run_stats },
	{ .cmd = REFPMU_IOC_BRANCHES, .in_caller = refpmu_port_branches,
	  .run = run_branches },
	{}
};
