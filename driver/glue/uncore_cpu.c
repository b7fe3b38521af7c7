// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CPU that the events of refpmu_uncore are on, where the kernel does not see to it: the device
 * is everybody's, but perf keeps every event on some CPU, and that CPU can go away.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/device.h>

#include "uncore.h"

static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *page)
{
	const unsigned int cpu = READ_ONCE(refpmu_uncore.cpu);

	return cpumap_print_to_pagebuf(true, page, cpu < nr_cpu_ids ? cpumask_of(cpu) :
								      cpu_none_mask);
}
static DEVICE_ATTR_RO(cpumask);

static struct attribute *cpumask_attrs[] = {
	&dev_attr_cpumask.attr,
	NULL,
};

/* A kernel that knows scopes shows a cpumask of its own. */
static umode_t cpumask_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	return refpmu_uncore.scoped ? 0 : attr->mode;
}

const struct attribute_group refpmu_uncore_cpumask_group = {
	.attrs = cpumask_attrs,
	.is_visible = cpumask_visible,
};

/* A machine that had no CPU for the events has one again. */
static int cpu_comes(unsigned int cpu)
{
	if (refpmu_uncore.cpu >= nr_cpu_ids)
		WRITE_ONCE(refpmu_uncore.cpu, cpu);
	return 0;
}

/*
 * The events leave @cpu while it still works, and while it is still in the mask of those that are
 * online. New events are sent to the next CPU from the first line on.
 */
static int cpu_goes(unsigned int cpu)
{
	unsigned int next;

	if (cpu != refpmu_uncore.cpu)
		return 0;
	next = cpumask_any_but(cpu_online_mask, cpu);
	WRITE_ONCE(refpmu_uncore.cpu, next);
	if (next < nr_cpu_ids)
		perf_pmu_migrate_context(&refpmu_uncore.pmu, cpu, next);
	return 0;
}

static int register_pmu(struct refpmu_uncore *uncore)
{
	return perf_pmu_register(&uncore->pmu, REFPMU_UNCORE_NAME, -1);
}

/*
 * Register the PMU. No CPU comes or goes between the choice of one, the registration, without which
 * nothing can be moved, and the callbacks that move.
 */
int refpmu_uncore_online(struct refpmu_uncore *uncore)
{
	int err;

	if (uncore->scoped)
		return register_pmu(uncore);

	cpus_read_lock();
	uncore->cpu = cpumask_first(cpu_online_mask);
	err = register_pmu(uncore);
	if (err)
		goto unlock;
	err = cpuhp_setup_state_nocalls_cpuslocked(CPUHP_AP_ONLINE_DYN, "perf/refpmu_uncore:online",
						   cpu_comes, cpu_goes);
	if (err < 0) {
		perf_pmu_unregister(&uncore->pmu);
		goto unlock;
	}
	uncore->hotplug = err;
	err = 0;
unlock:
	cpus_read_unlock();
	return err;
}

/* The callbacks go first: they need a PMU that is registered. No event is left that could move. */
void refpmu_uncore_offline(struct refpmu_uncore *uncore)
{
	if (!uncore->scoped)
		cpuhp_remove_state_nocalls(uncore->hotplug);
	perf_pmu_unregister(&uncore->pmu);
}
