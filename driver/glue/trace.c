// SPDX-License-Identifier: GPL-2.0-only
/*
 * refpmu_trace, a PMU with an AUX area: it records every branch there. The callbacks, the
 * interrupt, loading and unloading. An event of it counts nothing and has no samples.
 */
#include <linux/cpuhotplug.h>
#include <linux/device.h>
#include <linux/module.h>

#include "compat.h"
#include "refpmu.h"
#include "trace.h"

/* Handler runs before a line that stays up is a storm. */
#define TRACE_RUNS 64

static bool as_bts;
module_param_named(bts, as_bts, bool, 0444);
MODULE_PARM_DESC(bts, "register refpmu_trace as \"intel_bts\", whose records tools decode");

struct refpmu_trace_cpu __percpu *refpmu_trace_cpus;

static enum cpuhp_state hotplug;
static struct pmu trace_pmu;
static atomic64_t inits; /* calls of event_init and destroy belong to no CPU */
static atomic64_t destroys;
static atomic64_t live; /* events that event_init accepted and destroy has not had */

u64 refpmu_trace_inits(void)
{
	return atomic64_read(&inits);
}

u64 refpmu_trace_destroys(void)
{
	return atomic64_read(&destroys);
}

u64 refpmu_trace_live(void)
{
	return atomic64_read(&live);
}

void refpmu_trace_forget(void)
{
	atomic64_set(&inits, 0);
	atomic64_set(&destroys, 0);
}

/* Note that perf entered a callback, in whatever context it did. */
static void note(enum refpmu_call call, const struct perf_event *event, u64 flags)
{
	unsigned long irqs;

	local_irq_save(irqs);
	refpmu_journal_call(&this_cpu_ptr(refpmu_trace_cpus)->journal, call, flags, event->id);
	local_irq_restore(irqs);
}

/* True while the line is up where the CPU could see it. */
bool refpmu_trace_line(const struct refpmu_trace_cpu *t)
{
	return refpmu_model_line(&t->model) && !t->held;
}

/* Deliver the line of @t, which is this CPU's, once interrupts are on. */
void refpmu_trace_raise(struct refpmu_trace_cpu *t)
{
	t->runs = 0;
	irq_work_queue(&t->pmi);
}

/* What was written goes to the reader, and the device gets the next window. */
static void next_window(struct refpmu_trace_cpu *t, struct perf_event *event)
{
	if (!refpmu_trace_close(t) && refpmu_trace_open(t, event))
		return;
	/* It is about to be disabled. */
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

/* Acknowledged first: what comes after that raises the line anew. */
static void handle(struct refpmu_trace_cpu *t)
{
	const u64 status = refpmu_trace_read(t, REFPMU_REG_GLOBAL_STATUS) & REFPMU_STATUS_DS;
	struct perf_event *event = t->event;

	local64_inc(&t->journal.pmi);
	if (status) {
		local64_inc(&t->journal.pmi_claimed);
		refpmu_trace_write(t, REFPMU_REG_GLOBAL_STATUS_RESET, status);
		if (event && !(event->hw.state & PERF_HES_STOPPED))
			next_window(t, event);
	}
	refpmu_journal_note(&t->journal, REFPMU_LOG_PMI, status != 0, status, 0);
}

static void pmi(struct irq_work *work)
{
	struct refpmu_trace_cpu *t = container_of(work, struct refpmu_trace_cpu, pmi);

	/* A CPU that went offline meanwhile was reset; its line is not this CPU's to serve. */
	if (t->cpu != smp_processor_id())
		return;
	t->runs++;
	handle(t);
	if (refpmu_trace_line(t) && t->runs < TRACE_RUNS)
		irq_work_queue(&t->pmi);
}

static void trace_destroy(struct perf_event *event)
{
	atomic64_inc(&destroys);
	atomic64_dec(&live);
}

/*
 * There is nothing to choose but the privilege. A sampling period has no meaning for a trace, and
 * is let pass: tools set one in every event.
 */
static int trace_event_init(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (attr->type != event->pmu->type)
		return -ENOENT;
	note(REFPMU_CALL_EVENT_INIT, event, 0);
	atomic64_inc(&inits);
	if (attr->config || attr->config1 || attr->config2 || refpmu_compat_config3(attr))
		return -EINVAL;
	if (attr->precise_ip || has_branch_stack(event))
		return -EOPNOTSUPP;
	/* The device cannot tell the idle task from the kernel, and sees nothing but the host. */
	if (attr->exclude_idle || attr->exclude_host)
		return -EOPNOTSUPP;

	event->hw.config = REFPMU_DEBUGCTL_TR | REFPMU_DEBUGCTL_BTS;
	if (attr->exclude_user)
		event->hw.config |= REFPMU_DEBUGCTL_BTS_OFF_USR;
	if (attr->exclude_kernel)
		event->hw.config |= REFPMU_DEBUGCTL_BTS_OFF_OS;
	atomic64_inc(&live);
	event->destroy = trace_destroy;
	return 0;
}

/* Without a buffer or room in it the event stays stopped. */
static void start(struct refpmu_trace_cpu *t, struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;

	if (!(hwc->state & PERF_HES_STOPPED))
		return;
	hwc->state = 0;
	if (!refpmu_trace_open(t, event)) {
		hwc->state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
		return;
	}
	/* perf tells the reader once, and now it has. The function for this is not exported. */
	WRITE_ONCE(event->attach_state, event->attach_state | PERF_ATTACH_ITRACE);
}

static void stop(struct refpmu_trace_cpu *t, struct perf_event *event)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	refpmu_trace_close(t);
}

static void trace_start(struct perf_event *event, int flags)
{
	struct refpmu_trace_cpu *t = this_cpu_ptr(refpmu_trace_cpus);

	note(REFPMU_CALL_START, event, flags);
	if (flags & REFPMU_COMPAT_EF_RESUME)
		refpmu_trace_switch(t, event);
	else
		start(t, event);
}

static void trace_stop(struct perf_event *event, int flags)
{
	struct refpmu_trace_cpu *t = this_cpu_ptr(refpmu_trace_cpus);

	note(REFPMU_CALL_STOP, event, flags);
	if (flags & REFPMU_COMPAT_EF_PAUSE)
		refpmu_trace_switch(t, event);
	else
		stop(t, event);
}

/*
 * One device, one event: perf sees to that by PERF_PMU_CAP_EXCLUSIVE within a context, and here it
 * holds for whatever else may come. An event that cannot start is added all the same: it is stopped
 * and about to be disabled, which perf does to none that is not scheduled.
 */
static int trace_add(struct perf_event *event, int flags)
{
	struct refpmu_trace_cpu *t = this_cpu_ptr(refpmu_trace_cpus);

	note(REFPMU_CALL_ADD, event, flags);
	if (t->event)
		return -EBUSY;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	t->event = event;
	if (flags & PERF_EF_START)
		start(t, event);
	return 0;
}

static void trace_del(struct perf_event *event, int flags)
{
	struct refpmu_trace_cpu *t = this_cpu_ptr(refpmu_trace_cpus);

	note(REFPMU_CALL_DEL, event, flags);
	stop(t, event);
	t->event = NULL;
}

/* The count is 0: what the event gives is in the AUX area. */
static void trace_read(struct perf_event *event)
{
	note(REFPMU_CALL_READ, event, 0);
}

static void *trace_setup_aux(struct perf_event *event, void **pages, int nr_pages, bool overwrite)
{
	note(REFPMU_CALL_SETUP_AUX, event, nr_pages);
	return refpmu_trace_setup_aux(event, pages, nr_pages, overwrite);
}

/* perf frees it when the last user has gone, whichever event that was. */
static void trace_free_aux(void *aux)
{
	unsigned long irqs;

	local_irq_save(irqs);
	refpmu_journal_call(&this_cpu_ptr(refpmu_trace_cpus)->journal, REFPMU_CALL_FREE_AUX, 0, 0);
	local_irq_restore(irqs);
	refpmu_trace_free_aux(aux);
}

static ssize_t pmu_name_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "refpmu_trace\n");
}
static DEVICE_ATTR_RO(pmu_name);

static struct attribute *caps_attrs[] = {
	&dev_attr_pmu_name.attr,
	NULL,
};

static const struct attribute_group caps_group = {
	.name = "caps",
	.attrs = caps_attrs,
};

static const struct attribute_group *attr_groups[] = {
	&caps_group,
	NULL,
};

/*
 * The software context, since an event of its own device never waits for a counter and may lead a
 * group of any other PMU's events. The interrupt is an irq_work, never an NMI.
 */
static const struct pmu trace_ops = {
	.module = THIS_MODULE,
	.attr_groups = attr_groups,
	.task_ctx_nr = perf_sw_context,
	.capabilities = PERF_PMU_CAP_EXCLUSIVE | PERF_PMU_CAP_ITRACE | PERF_PMU_CAP_NO_NMI |
			REFPMU_COMPAT_CAP_AUX_PAUSE,
	.event_init = trace_event_init,
	.add = trace_add,
	.del = trace_del,
	.start = trace_start,
	.stop = trace_stop,
	.read = trace_read,
	.setup_aux = trace_setup_aux,
	.free_aux = trace_free_aux,
};

/* Power-on state for @cpu, which is not online yet or has had no event so far. */
static int prepare(unsigned int cpu)
{
	struct refpmu_trace_cpu *t = per_cpu_ptr(refpmu_trace_cpus, cpu);
	const struct refpmu_model_params params = {
		.general = 1,
		.width = 48,
		.trace = true,
		.memory = refpmu_trace_memory,
		.context = t,
	};

	t->cpu = cpu;
	t->event = NULL;
	t->buffer = NULL;
	t->control = 0;
	t->held = false;
	memset(&t->ds, 0, sizeof(t->ds));
	return refpmu_model_reset(&t->model, &params);
}

static void free_cpus(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct refpmu_trace_cpu *t = per_cpu_ptr(refpmu_trace_cpus, cpu);

		irq_work_sync(&t->pmi);
		refpmu_journal_free(&t->journal);
	}
	free_percpu(refpmu_trace_cpus);
}

/* In hard interrupt context on every kind of kernel, as a device interrupt would be. */
static int alloc_cpus(void)
{
	unsigned int cpu;

	refpmu_trace_cpus = alloc_percpu(struct refpmu_trace_cpu);
	if (!refpmu_trace_cpus)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		per_cpu_ptr(refpmu_trace_cpus, cpu)->pmi = IRQ_WORK_INIT_HARD(pmi);
	for_each_possible_cpu(cpu) {
		if (refpmu_journal_setup(&per_cpu_ptr(refpmu_trace_cpus, cpu)->journal)) {
			free_cpus();
			return -ENOMEM;
		}
	}
	return 0;
}

int refpmu_trace_register(void)
{
	const char *name = as_bts ? "intel_bts" : "refpmu_trace";
	int err = alloc_cpus();

	if (err)
		return err;
	/* Before the CPU runs, so that no event can come first. */
	err = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "perf/refpmu_trace:prepare", prepare, NULL);
	if (err < 0)
		goto free;
	hotplug = err;
	err = refpmu_trace_port_register("refpmu_trace");
	if (err)
		goto hotplug;
	trace_pmu = trace_ops; /* perf takes one that it has had before for registered in part */
	err = perf_pmu_register(&trace_pmu, name, -1);
	if (!err)
		return 0;

	pr_err("refpmu: perf refused the PMU %s: %d\n", name, err);
	refpmu_trace_port_unregister();
hotplug:
	cpuhp_remove_state_nocalls(hotplug);
free:
	free_cpus();
	return err;
}

void refpmu_trace_unregister(void)
{
	refpmu_compat_unregister(&trace_pmu);
	refpmu_trace_port_unregister();
	cpuhp_remove_state_nocalls(hotplug);
	free_cpus();
}
