// SPDX-License-Identifier: GPL-2.0-only
/*
 * refpmu_trace, a PMU with an AUX area, to which it writes a record of every branch. This file has
 * the callbacks and the registration. An event of this PMU has no count and no samples.
 */
#include <linux/device.h>
#include <linux/module.h>

#include "compat/compat.h"
#include "trace.h"

static bool as_bts;
module_param_named(bts, as_bts, bool, 0444);
MODULE_PARM_DESC(bts, "register refpmu_trace as \"intel_bts\", so that tools decode its records");

static struct pmu trace_pmu;

/* Log a callback, from any context. */
static void log_callback(enum refpmu_call call, const struct perf_event *event, u64 flags)
{
	unsigned long irqs;

	local_irq_save(irqs);
	refpmu_journal_call(&this_cpu_ptr(refpmu_trace_cpus)->journal, call, flags, event->id);
	local_irq_restore(irqs);
}

static void trace_destroy(struct perf_event *event)
{
	atomic64_inc(&refpmu_trace_totals.destroys);
	atomic64_dec(&refpmu_trace_totals.live);
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
	log_callback(REFPMU_CALL_EVENT_INIT, event, 0);
	atomic64_inc(&refpmu_trace_totals.inits);
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
	atomic64_inc(&refpmu_trace_totals.live);
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

	log_callback(REFPMU_CALL_START, event, flags);
	if (flags & REFPMU_COMPAT_EF_RESUME)
		refpmu_trace_switch(t, event);
	else
		start(t, event);
}

static void trace_stop(struct perf_event *event, int flags)
{
	struct refpmu_trace_cpu *t = this_cpu_ptr(refpmu_trace_cpus);

	log_callback(REFPMU_CALL_STOP, event, flags);
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

	log_callback(REFPMU_CALL_ADD, event, flags);
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

	log_callback(REFPMU_CALL_DEL, event, flags);
	stop(t, event);
	t->event = NULL;
}

/* The count is always 0. The data of the event is in the AUX area. */
static void trace_read(struct perf_event *event)
{
	log_callback(REFPMU_CALL_READ, event, 0);
}

static void *trace_setup_aux(struct perf_event *event, void **pages, int nr_pages, bool overwrite)
{
	log_callback(REFPMU_CALL_SETUP_AUX, event, nr_pages);
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

int refpmu_trace_register(void)
{
	const char *name = as_bts ? "intel_bts" : "refpmu_trace";
	int err = refpmu_trace_cpus_setup();

	if (err)
		return err;
	err = refpmu_trace_port_register("refpmu_trace");
	if (err)
		goto cpus;
	/* perf would take a struct pmu that was registered before as partly registered */
	trace_pmu = trace_ops;
	err = perf_pmu_register(&trace_pmu, name, -1);
	if (!err)
		return 0;

	pr_err("refpmu: perf refused the PMU %s: %d\n", name, err);
	refpmu_trace_port_unregister();
cpus:
	refpmu_trace_cpus_teardown();
	return err;
}

void refpmu_trace_unregister(void)
{
	refpmu_compat_unregister(&trace_pmu);
	refpmu_trace_port_unregister();
	refpmu_trace_cpus_teardown();
}
