// SPDX-License-Identifier: GPL-2.0-only
/* The stimulus port: /dev/refpmu, by which a test makes the device do things. */
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "refpmu.h"

#define SERVE_TIMEOUT_NS NSEC_PER_SEC

/* Every argument begins like this. */
struct head {
	__u32 size;
	__s32 cpu;
};

union argument {
	struct head head;
	struct refpmu_info info;
	struct refpmu_pulse pulse;
	struct refpmu_clock clock;
	struct refpmu_advance advance;
	struct refpmu_reg reg;
	struct refpmu_line line;
	struct refpmu_inject inject;
	struct refpmu_log log;
	struct refpmu_stats stats;
};

/* One request, as the CPU that it is about gets it: in process context, and it stays there. */
struct request {
	union argument arg;
	struct task_struct *caller;
	u64 caller_ip;
	struct refpmu_log_entry *entries; /* of LOG */
	int (*run)(struct refpmu_cpu *cpuc, struct request *req);
};

/* Events to happen, or ticks to pass. */
struct stimulus {
	bool clock;
	u16 code;
	enum refpmu_privilege privilege;
	u32 skid;
	u64 ip;
	u64 addr;
	u64 n;
	u64 *done;
};

static struct refpmu_model_step happen(struct refpmu_cpu *cpuc, const struct stimulus *stim, u64 n,
				       bool run_on)
{
	if (stim->clock)
		return refpmu_model_advance(&cpuc->model, n, stim->privilege, run_on);
	return refpmu_model_pulse(&cpuc->model, stim->code, n, stim->privilege, run_on);
}

/*
 * Wait until the interrupt that was raised has been handled, with interrupts on. Bounded twice: the
 * handler runs only so often, and this waits only so long.
 */
static int wait_served(struct refpmu_cpu *cpuc)
{
	const u64 deadline = ktime_get_ns() + SERVE_TIMEOUT_NS;

	while (irq_work_is_busy(&cpuc->pmi)) {
		if (ktime_get_ns() > deadline)
			return -EIO;
		cpu_relax();
	}
	return refpmu_line(cpuc) ? -EIO : 0;
}

/*
 * Raise the line if it is due. In the same stretch without interrupts as what made it due: a tick
 * in between would stop and restart events of frequency mode, and so drop their overflow.
 */
static void raise_if_due(struct refpmu_cpu *cpuc)
{
	if (refpmu_line(cpuc))
		refpmu_raise(cpuc);
	else
		refpmu_clock_arm(cpuc);
}

/* See a line that is up served. Preemption off, interrupts on. */
static int settle(struct refpmu_cpu *cpuc)
{
	unsigned long irqs;

	local_irq_save(irqs);
	raise_if_due(cpuc);
	local_irq_restore(irqs);
	return wait_served(cpuc);
}

/* Run until the next overflow, or to the end, and have the overflow served. */
static int step(struct refpmu_cpu *cpuc, const struct stimulus *stim)
{
	struct refpmu_model_step now;
	unsigned long irqs;
	u64 left;
	int err = settle(cpuc);

	if (err)
		return err;
	local_irq_save(irqs);
	refpmu_clock_sync(cpuc);
	memset(&cpuc->cause, 0, sizeof(cpuc->cause));
	cpuc->cause.privilege = stim->privilege;
	cpuc->cause.ip = stim->ip;
	cpuc->cause.addr = stim->addr;
	perf_fetch_caller_regs(&cpuc->cause.regs);

	now = happen(cpuc, stim, stim->n - *stim->done, cpuc->held);
	*stim->done += now.done;
	left = stim->n - *stim->done;
	if (now.overflowed && !cpuc->held && stim->skid)
		*stim->done += happen(cpuc, stim, min_t(u64, stim->skid, left), true).done;
	raise_if_due(cpuc);
	local_irq_restore(irqs);
	return wait_served(cpuc);
}

/*
 * Between steps the caller may be preempted: whatever its per-task events miss then is not of its
 * doing, and when it goes on they are back.
 */
static int stimulate(struct refpmu_cpu *cpuc, const struct request *req,
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

/* The instruction pointer that samples show. A kernel one, if not given, is that of the port. */
static u64 stimulus_ip(const struct request *req, u64 ip, u32 privilege)
{
	return ip || privilege == REFPMU_PRIV_KERNEL ? ip : req->caller_ip;
}

static int check_pulse(const union argument *arg)
{
	const struct refpmu_pulse *pulse = &arg->pulse;

	if (pulse->reserved || pulse->event > U16_MAX || pulse->privilege > REFPMU_PRIV_KERNEL)
		return -EINVAL;
	return 0;
}

static int run_pulse(struct refpmu_cpu *cpuc, struct request *req)
{
	struct refpmu_pulse *pulse = &req->arg.pulse;
	const struct stimulus stim = {
		.code = pulse->event,
		.privilege = pulse->privilege,
		.skid = pulse->skid,
		.ip = stimulus_ip(req, pulse->ip, pulse->privilege),
		.addr = pulse->addr,
		.n = pulse->n,
		.done = &pulse->done,
	};

	return stimulate(cpuc, req, &stim);
}

static int check_advance(const union argument *arg)
{
	return arg->advance.privilege > REFPMU_PRIV_KERNEL ? -EINVAL : 0;
}

static int run_advance(struct refpmu_cpu *cpuc, struct request *req)
{
	struct refpmu_advance *advance = &req->arg.advance;
	const struct stimulus stim = {
		.clock = true,
		.privilege = advance->privilege,
		.skid = advance->skid,
		.ip = stimulus_ip(req, advance->ip, advance->privilege),
		.n = advance->ticks,
		.done = &advance->done,
	};

	if (READ_ONCE(cpuc->clock_mode) == REFPMU_CLOCK_AUTO) {
		advance->done = 0;
		return -EBUSY;
	}
	return stimulate(cpuc, req, &stim);
}

static int check_clock(const union argument *arg)
{
	return arg->clock.reserved || arg->clock.mode > REFPMU_CLOCK_MANUAL ? -EINVAL : 0;
}

static int run_clock(struct refpmu_cpu *cpuc, struct request *req)
{
	unsigned long irqs;

	local_irq_save(irqs);
	refpmu_clock_mode(cpuc, req->arg.clock.mode);
	local_irq_restore(irqs);
	return 0;
}

static int check_reg(const union argument *arg)
{
	return arg->reg.write > 1 ? -EINVAL : 0;
}

/* Not through the bus: the log tells what the driver did, and this is the test. */
static int run_reg(struct refpmu_cpu *cpuc, struct request *req)
{
	struct refpmu_reg *reg = &req->arg.reg;
	unsigned long irqs;
	int err;

	preempt_disable();
	local_irq_save(irqs);
	refpmu_clock_sync(cpuc);
	if (reg->write)
		err = refpmu_model_write(&cpuc->model, reg->reg, reg->value);
	else
		err = refpmu_model_read(&cpuc->model, reg->reg, &reg->value);
	if (!err && reg->write)
		raise_if_due(cpuc);
	local_irq_restore(irqs);
	if (!err && reg->write)
		err = wait_served(cpuc);
	preempt_enable();
	return err;
}

static int check_line(const union argument *arg)
{
	return arg->line.reserved || arg->line.hold > 1 ? -EINVAL : 0;
}

/* What overflowed while the line was held keeps its cause, seen from where the CPU is now. */
static int set_line(struct refpmu_cpu *cpuc, bool hold)
{
	unsigned long irqs;
	int err;

	preempt_disable();
	local_irq_save(irqs);
	refpmu_clock_sync(cpuc);
	cpuc->held = hold;
	memset(&cpuc->cause.regs, 0, sizeof(cpuc->cause.regs));
	perf_fetch_caller_regs(&cpuc->cause.regs);
	raise_if_due(cpuc);
	local_irq_restore(irqs);
	err = wait_served(cpuc);
	preempt_enable();
	return err;
}

static int run_line(struct refpmu_cpu *cpuc, struct request *req)
{
	return set_line(cpuc, req->arg.line.hold);
}

/* A storm is an answer here, not an error. */
static int run_inject(struct refpmu_cpu *cpuc, struct request *req)
{
	struct refpmu_inject *inject = &req->arg.inject;
	unsigned long irqs;
	u64 pmi, claimed;
	int err;

	preempt_disable();
	local_irq_save(irqs);
	refpmu_clock_sync(cpuc);
	pmi = cpuc->stats.pmi;
	claimed = cpuc->stats.pmi_claimed;
	memset(&cpuc->cause, 0, sizeof(cpuc->cause));
	cpuc->cause.privilege = REFPMU_KERNEL;
	perf_fetch_caller_regs(&cpuc->cause.regs);
	err = refpmu_model_write(&cpuc->model, REFPMU_REG_GLOBAL_STATUS_SET, inject->status);
	if (!err && !cpuc->held)
		refpmu_raise(cpuc);
	local_irq_restore(irqs);
	if (!err)
		wait_served(cpuc);
	inject->runs = cpuc->stats.pmi - pmi;
	inject->claimed = cpuc->stats.pmi_claimed - claimed;
	preempt_enable();
	return err;
}

/* Room for the entries is made before, and they are handed out after, where sleeping is fine. */
static int run_log(struct refpmu_cpu *cpuc, struct request *req)
{
	struct refpmu_log *log = &req->arg.log;
	unsigned long irqs;

	local_irq_save(irqs);
	log->count = refpmu_log_copy(cpuc, req->entries, log->capacity);
	local_irq_restore(irqs);
	return 0;
}

static int run_stats(struct refpmu_cpu *cpuc, struct request *req)
{
	const struct head head = req->arg.head;
	struct refpmu_stats *stats = &req->arg.stats;
	unsigned long irqs;

	local_irq_save(irqs);
	*stats = cpuc->stats;
	stats->used = cpuc->used;
	stats->disable_depth = cpuc->disable_depth;
	local_irq_restore(irqs);
	stats->calls[REFPMU_CALL_EVENT_INIT] = atomic64_read(&refpmu_device.inits);
	stats->calls[REFPMU_CALL_DESTROY] = atomic64_read(&refpmu_device.destroys);
	stats->live_events = atomic64_read(&refpmu_device.live);
	stats->size = head.size;
	stats->cpu = head.cpu;
	return 0;
}

static int run_reset(struct refpmu_cpu *cpuc, struct request *req)
{
	unsigned long irqs;
	int err = set_line(cpuc, false);

	local_irq_save(irqs);
	refpmu_clock_mode(cpuc, REFPMU_CLOCK_AUTO);
	memset(&cpuc->stats, 0, sizeof(cpuc->stats));
	cpuc->log_next = 0;
	local_irq_restore(irqs);
	return err;
}

static long run_there(void *arg)
{
	struct request *req = arg;

	return req->run(per_cpu_ptr(refpmu_device.cpus, raw_smp_processor_id()), req);
}

/* Run @req on @cpu: in this task if it is there already, so that its own events see it. */
static int run_on(int cpu, struct request *req)
{
	long err;

	if (cpu < REFPMU_CPU_CURRENT)
		return -EINVAL;
	if (cpu >= (int)nr_cpu_ids)
		return -ENXIO;
	migrate_disable();
	if (cpu == REFPMU_CPU_CURRENT || cpu == raw_smp_processor_id()) {
		err = run_there(req);
		migrate_enable();
		return err;
	}
	migrate_enable();
	err = work_on_cpu_safe(cpu, run_there, req);
	return err == -ENODEV ? -ENXIO : err;
}

static int ioctl_reset(struct request *req)
{
	int cpu, err = 0;

	req->run = run_reset;
	for_each_possible_cpu(cpu) {
		const int failed = run_on(cpu, req);

		/* A CPU that is offline starts afresh anyway. */
		if (failed && failed != -ENXIO)
			err = failed;
	}
	atomic64_set(&refpmu_device.inits, 0);
	atomic64_set(&refpmu_device.destroys, 0);
	return err;
}

static int ioctl_info(struct request *req)
{
	req->arg.info = (struct refpmu_info){
		.size = sizeof(struct refpmu_info),
		.general = refpmu_device.params.general,
		.fixed = refpmu_device.params.fixed,
		.width = refpmu_device.params.width,
		.min_period = refpmu_device.caps.min_period,
	};
	return 0;
}

static int ioctl_log(struct request *req)
{
	struct refpmu_log *log = &req->arg.log;
	int err;

	log->capacity = min_t(u32, log->capacity, REFPMU_LOG_ENTRIES);
	req->entries = kvcalloc(log->capacity + 1, sizeof(*req->entries), GFP_KERNEL);
	if (!req->entries)
		return -ENOMEM;
	req->run = run_log;
	err = run_on(log->cpu, req);
	if (!err && copy_to_user(u64_to_user_ptr(log->entries), req->entries,
				 log->count * sizeof(*req->entries)))
		err = -EFAULT;
	kvfree(req->entries);
	return err;
}

/* A request goes to the CPU it names (run), or is answered right here (here). */
static const struct request_kind {
	unsigned int cmd;
	int (*check)(const union argument *arg);
	int (*run)(struct refpmu_cpu *cpuc, struct request *req);
	int (*here)(struct request *req);
} kinds[] = {
	{ .cmd = REFPMU_IOC_RESET, .here = ioctl_reset },
	{ .cmd = REFPMU_IOC_INFO, .here = ioctl_info },
	{ .cmd = REFPMU_IOC_PULSE, .check = check_pulse, .run = run_pulse },
	{ .cmd = REFPMU_IOC_CLOCK, .check = check_clock, .run = run_clock },
	{ .cmd = REFPMU_IOC_ADVANCE, .check = check_advance, .run = run_advance },
	{ .cmd = REFPMU_IOC_REG, .check = check_reg, .run = run_reg },
	{ .cmd = REFPMU_IOC_LINE, .check = check_line, .run = run_line },
	{ .cmd = REFPMU_IOC_INJECT, .run = run_inject },
	{ .cmd = REFPMU_IOC_LOG, .here = ioctl_log },
	{ .cmd = REFPMU_IOC_STATS, .run = run_stats },
};

static int execute(const struct request_kind *kind, struct request *req)
{
	int err = kind->check ? kind->check(&req->arg) : 0;

	if (err)
		return err;
	if (kind->here)
		return kind->here(req);
	req->run = kind->run;
	return run_on(req->arg.head.cpu, req);
}

/* What happened is told even if it ended in an error: "done" says how far it came. */
static long refpmu_ioctl(struct file *file, unsigned int cmd, unsigned long user)
{
	struct request req = {
		.caller = current,
		.caller_ip = instruction_pointer(task_pt_regs(current)),
	};
	const size_t size = _IOC_SIZE(cmd);
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(kinds) && kinds[i].cmd != cmd; i++)
		;
	if (i == ARRAY_SIZE(kinds))
		return -ENOTTY;
	if (copy_from_user(&req.arg, (void __user *)user, size))
		return -EFAULT;
	if (size && req.arg.head.size != size)
		return -EINVAL;
	err = execute(&kinds[i], &req);
	if (_IOC_DIR(cmd) & _IOC_READ && copy_to_user((void __user *)user, &req.arg, size))
		return -EFAULT;
	return err;
}

/* The file mode can be changed later; what the port does stays for the administrator alone. */
static int refpmu_open(struct inode *inode, struct file *file)
{
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	return nonseekable_open(inode, file);
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = refpmu_open,
	.unlocked_ioctl = refpmu_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice port = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "refpmu",
	.fops = &fops,
	.mode = 0600,
};

int refpmu_port_register(void)
{
	return misc_register(&port);
}

void refpmu_port_unregister(void)
{
	misc_deregister(&port);
}
