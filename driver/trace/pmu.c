// SPDX-License-Identifier: GPL-2.0-only
/*
 * refpmu_trace, a PMU with an AUX area, to which it writes a record of every branch. This file has
 * the callbacks, the interrupt, and the setup. An event of this PMU has no count and no samples.
 */
#include <linux/cpuhotplug.h>
#include <linux/device.h>
#include <linux/module.h>

#include "compat/compat.h"
#include "core_pmu/refpmu.h"
#include "trace.h"

/* Limit of handler runs for one interrupt, after which the line counts as an interrupt storm. */
#define TRACE_RUNS 64

static bool as_bts;
module_param_named(bts, as_bts, bool, 0444);
MODULE_PARM_DESC(bts, "register refpmu_trace as \"intel_bts\", so that tools decode its records");

struct refpmu_trace_cpu __percpu *refpmu_trace_cpus;

static enum cpuhp_state hotplug;
static struct pmu trace_pmu;
static atomic64_t inits; /* event_init and destroy are not tied to a CPU */
static atomic64_t destroys;
static atomic64_t live; /* events that event_init accepted and that are not destroyed yet */

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

/* Log a callback, from any context. */
static void note(enum refpmu_call call, const struct perf_event *event, u64 flags)
{
	unsigned long irqs;

	local_irq_save(irqs);
	refpmu_journal_call(&this_cpu_ptr(refpmu_trace_cpus)->journal, call, flags, event->id);
	local_irq_restore(irqs);
}

/* Return true while the line is up and not held back by the stimulus port. */
bool refpmu_trace_line(const struct refpmu_trace_cpu *t)
{
	return refpmu_model_line(&t->model) && !t->held;
}

/* Raise the interrupt of @t on its own CPU. It arrives when interrupts are on. */
void refpmu_trace_raise(struct refpmu_trace_cpu *t)
{
	t->runs = 0;
	irq_work_queue(&t->pmi);
}

/* Pass the written records to the reader, and give the device the next window. */
static void next_window(struct refpmu_trace_cpu *t, struct perf_event *event)
{
	if (!refpmu_trace_close(t) && refpmu_trace_open(t, event))
		return;
	/* perf is about to disable the event. */
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

/* Acknowledge first, so that a later threshold raises the line again. */
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

	/*
	 * The CPU of @t went offline meanwhile and was reset, and the irq_work runs on another CPU.
	 */
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
 * Only the privilege can be selected. A sampling period has no meaning for a trace, but tools set
 * one in every event, so it is accepted.
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
	/*
	 * The device cannot distinguish the idle task from the kernel, and it records only the
	 * host.
	 */
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

/* If there is no buffer or no room in it, the event stays stopped. */
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
	/*
	 * perf has now written PERF_RECORD_ITRACE_START; this flag prevents a second one. The perf
	 * function that sets it is not exported.
	 */
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
 * The device can record for one event only. Within a context, PERF_PMU_CAP_EXCLUSIVE ensures that;
 * this check covers all other combinations. An event that cannot start is still added, in the
 * stopped state: perf can disable it only if it is scheduled.
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

/* The count is always 0. The data of the event is in the AUX area. */
static void trace_read(struct perf_event *event)
{
	note(REFPMU_CALL_READ, event, 0);
}

static void *trace_setup_aux(struct perf_event *event, void **pages, int nr_pages, bool overwrite)
{
	note(REFPMU_CALL_SETUP_AUX, event, nr_pages);
	return refpmu_trace_setup_aux(event, pages, nr_pages, overwrite);
}

/* perf frees the area after the last user has unmapped it. No event is known at that time. */
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
 * task_ctx_nr is the software context, because an event of this PMU never waits for a counter and
 * may lead a group of events of any other PMU. The interrupt is an irq_work, never an NMI.
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

/* Set the power-on state of @cpu, which is not online yet or has had no event so far. */
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

/*
 * The irq_work runs in hard interrupt context on every kernel, PREEMPT_RT included, like the
 * interrupt of a real device.
 */
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
	/* The callback must run before a CPU comes online, so before its first event. */
	err = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "perf/refpmu_trace:prepare", prepare, NULL);
	if (err < 0)
		goto free;
	hotplug = err;
	err = refpmu_trace_port_register("refpmu_trace");
	if (err)
		goto hotplug;
	/* perf would take a struct pmu that was registered before as partly registered */
	trace_pmu = trace_ops;
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
