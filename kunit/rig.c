// SPDX-License-Identifier: GPL-2.0-only
/* Shared code of the driver's suites: a CPU with events, stimuli, and calls of callbacks. */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/hardirq.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "compat/compat.h"
#include "port/clock.h"
#include "port/interrupt.h"
#include "rig.h"

static void choose_clock(void *mode)
{
	refpmu_clock_mode(rig_cpu(), (unsigned long)mode);
}

/* Write a file of /proc/sys/kernel. Newer kernels export neither the handlers nor the variables. */
static int write_sysctl(struct vfsmount *proc, const char *name, const char *text)
{
	char path[64];
	struct file *file;
	ssize_t written;
	loff_t pos = 0;

	snprintf(path, sizeof(path), "sys/kernel/%s", name);
	file = file_open_root_mnt(proc, path, O_WRONLY, 0);
	if (IS_ERR(file))
		return PTR_ERR(file);
	written = kernel_write(file, text, strlen(text), &pos);
	filp_close(file, NULL);
	return min_t(ssize_t, written, 0);
}

/*
 * Set perf_cpu_time_max_percent to 0. An emulated CPU is so slow that perf would soon reduce the
 * sample rate and throttle events that a case expects to run. Earlier suites may already have
 * caused that.
 */
static int disable_sample_cost_limit(void)
{
	struct file_system_type *type;
	static bool disabled;
	struct vfsmount *proc;
	int err;

	if (disabled)
		return 0;
	type = get_fs_type("proc");
	if (!type)
		return -ENODEV;
	proc = kern_mount(type);
	put_filesystem(type);
	if (IS_ERR(proc))
		return PTR_ERR(proc);
	err = write_sysctl(proc, "perf_event_max_sample_rate", "100000") ?:
	      write_sysctl(proc, "perf_cpu_time_max_percent", "0");
	kern_unmount(proc);
	disabled = !err;
	return err;
}

int rig_init(struct kunit *test)
{
	struct rig *rig = kunit_kzalloc(test, sizeof(*rig), GFP_KERNEL);
	int err;

	if (!rig)
		return -ENOMEM;
	test->priv = rig;
	rig->cpuc = per_cpu_ptr(rig_device->cpus, RIG_CPU);
	/* Each case runs in its own thread, so the affinity ends with the case. */
	err = disable_sample_cost_limit() ?: set_cpus_allowed_ptr(current, cpumask_of(RIG_CPU));
	if (err)
		return err;
	return smp_call_function_single(RIG_CPU, choose_clock, (void *)REFPMU_CLOCK_MANUAL, 1);
}

void rig_exit(struct kunit *test)
{
	struct rig *rig = test->priv;

	if (!rig)
		return;
	while (rig->n_events)
		perf_event_release_kernel(rig->events[--rig->n_events]);
	smp_call_function_single(RIG_CPU, choose_clock, (void *)REFPMU_CLOCK_AUTO, 1);
	/* A remaining event would make later cases fail. */
	KUNIT_EXPECT_EQ(test, rig->cpuc->used, 0ULL);
	KUNIT_EXPECT_EQ(test, rig->cpuc->n_events, 0U);
}

struct perf_event_attr rig_attr(u64 config)
{
	return (struct perf_event_attr){
		.type = rig_device->pmu.type,
		.size = sizeof(struct perf_event_attr),
		.config = config,
		.disabled = 1,
		.pinned = 1, /* gets a counter at once or goes to the error state */
	};
}

static void copy_branches(struct rig_sample *sample, const struct perf_branch_stack *stack)
{
	sample->n_branches = stack->nr;
	sample->branch_index = stack->hw_idx;
	memcpy(sample->branches, stack->entries,
	       min_t(u64, stack->nr, RIG_BRANCHES) * sizeof(stack->entries[0]));
}

static void copy_sample(struct rig_sample *sample, const struct perf_event *event,
			const struct perf_sample_data *data, struct pt_regs *regs)
{
	u64 flags, gpr[REFPMU_GPRS];

	refpmu_compat_get_gprs(regs, &flags, gpr);
	*sample = (struct rig_sample){
		.event = event,
		.period = data->period,
		.count = rig_count(event),
		.ip = instruction_pointer(regs),
		.ax = gpr[REFPMU_RAX],
		.exact = flags & PERF_EFLAGS_EXACT,
		.in_nmi = in_nmi(),
		.in_interrupt = in_nmi() || in_hardirq(),
	};
	if (data->sample_flags & PERF_SAMPLE_ADDR)
		sample->addr = data->addr;
	if (data->sample_flags & PERF_SAMPLE_TIME)
		sample->time = data->time;
	if (data->sample_flags & PERF_SAMPLE_DATA_SRC)
		sample->source = data->data_src.val;
	if (data->sample_flags & PERF_SAMPLE_WEIGHT_TYPE)
		sample->weight = data->weight.full;
	if (data->sample_flags & PERF_SAMPLE_BRANCH_STACK)
		copy_branches(sample, data->br_stack);
}

/* May run in an NMI, so it only records data. */
static void overflowed(struct perf_event *event, struct perf_sample_data *data,
		       struct pt_regs *regs)
{
	struct rig *rig = event->overflow_handler_context;

	if (rig->samples < RIG_SEEN)
		copy_sample(&rig->seen[rig->samples], event, data, regs);
	rig->samples++;
	rig->periods += data->period;
	rig->count = rig_count(event);
	if (rig->on_sample)
		rig->on_sample(rig, event);
}

struct perf_event *rig_open(struct kunit *test, struct perf_event_attr *attr)
{
	struct rig *rig = test->priv;
	struct perf_event *event;

	KUNIT_ASSERT_LT(test, rig->n_events, (unsigned int)RIG_EVENTS);
	event = perf_event_create_kernel_counter(attr, RIG_CPU, NULL, overflowed, rig);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	rig->events[rig->n_events++] = event;
	return event;
}

struct perf_event *rig_open_pulsed(struct kunit *test)
{
	struct perf_event_attr attr = rig_attr(RIG_PULSED);

	return rig_open(test, &attr);
}

struct perf_event *rig_open_sampling(struct kunit *test, u64 config, u64 period)
{
	struct perf_event_attr attr = rig_attr(config);

	attr.sample_period = period;
	return rig_open(test, &attr);
}

void rig_stimulate(struct kunit *test, const struct refpmu_stimulus *stimulus)
{
	struct refpmu_cpu *cpuc = rig_cpu();
	struct refpmu_stimulus left = *stimulus;

	while (left.n) {
		local_irq_disable();
		memset(&cpuc->cause, 0, sizeof(cpuc->cause));
		cpuc->cause.origin = *stimulus->origin;
		perf_fetch_caller_regs(&cpuc->cause.regs);
		left.n -= refpmu_model_stimulate(&cpuc->model, &left).done;
		if (refpmu_line(cpuc))
			refpmu_raise_pmi(cpuc);
		local_irq_enable();
		/* The handler delivers the interrupt again while the line is up, up to a limit. */
		while (refpmu_pending(cpuc))
			cpu_relax();
		KUNIT_ASSERT_FALSE_MSG(test, refpmu_line(cpuc), "the line stays up");
	}
}

void rig_pulse(struct kunit *test, u16 code, u64 n)
{
	const struct refpmu_origin origin = { .privilege = REFPMU_KERNEL };
	const struct refpmu_stimulus stimulus = { .code = code, .n = n, .origin = &origin };

	rig_stimulate(test, &stimulus);
}

void rig_branch(const struct refpmu_branch *branch, enum refpmu_privilege privilege)
{
	const struct refpmu_origin origin = { .privilege = privilege, .ip = branch->from };
	unsigned long irqs;

	local_irq_save(irqs);
	refpmu_model_branch(&rig_cpu()->model, branch, &origin, true);
	local_irq_restore(irqs);
}

void rig_tick(u16 code, u64 n)
{
	lockdep_assert_irqs_disabled();
	refpmu_model_pulse(&rig_cpu()->model, code, n, REFPMU_KERNEL, true);
}

u64 rig_reg(u32 reg)
{
	u64 value = 0;

	WARN_ON(refpmu_model_read(&rig_cpu()->model, reg, &value));
	return value;
}

void rig_set_reg(u32 reg, u64 value)
{
	WARN_ON(refpmu_model_write(&rig_cpu()->model, reg, value));
}

int rig_add(struct perf_event *event, int flags)
{
	int err;

	perf_pmu_disable(event->pmu);
	err = event->pmu->add(event, flags);
	perf_pmu_enable(event->pmu);
	return err;
}

void rig_del(struct perf_event *event)
{
	perf_pmu_disable(event->pmu);
	event->pmu->del(event, 0);
	perf_pmu_enable(event->pmu);
}

void rig_start(struct perf_event *event, int flags)
{
	perf_pmu_disable(event->pmu);
	event->pmu->start(event, flags);
	perf_pmu_enable(event->pmu);
}

void rig_stop(struct perf_event *event, int flags)
{
	perf_pmu_disable(event->pmu);
	event->pmu->stop(event, flags);
	perf_pmu_enable(event->pmu);
}

u64 rig_read(struct perf_event *event)
{
	event->pmu->read(event);
	return rig_count(event);
}

u64 rig_count(const struct perf_event *event)
{
	return local64_read(&event->count);
}
