// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CPU of the events of refpmu_uncore, on kernels that do not choose it themselves. The device
 * belongs to no CPU, but perf assigns every event to a CPU, and that CPU can go offline.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/module.h>

#include "compat/compat.h"
#include "uncore.h"

static unsigned int initial_cpu; /* the designated CPU at load */
static bool registered;

static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *page)
{
	const unsigned int cpu = READ_ONCE(refpmu_uncore.cpu);
	const struct cpumask *mask = cpu < nr_cpu_ids ? cpumask_of(cpu) : cpu_none_mask;

	return sysfs_emit(page, "%*pbl\n", cpumask_pr_args(mask));
}
static DEVICE_ATTR_RO(cpumask);

static struct attribute *cpumask_attrs[] = {
	&dev_attr_cpumask.attr,
	NULL,
};

/* Kernels with PMU scopes create a cpumask file themselves. */
static umode_t cpumask_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	return refpmu_uncore.scoped ? 0 : attr->mode;
}

const struct attribute_group refpmu_uncore_cpumask_group = {
	.attrs = cpumask_attrs,
	.is_visible = cpumask_visible,
};

/* Designate this CPU if there was no CPU for the events. */
static int cpuhp_online(unsigned int cpu)
{
	if (refpmu_uncore.cpu >= nr_cpu_ids)
		WRITE_ONCE(refpmu_uncore.cpu, cpu);
	return 0;
}

/*
 * Move the events to another CPU while @cpu still works and is still in cpu_online_mask. Choose the
 * next CPU first, so that new events already go there.
 */
static int cpuhp_offline(unsigned int cpu)
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

/* Move the events to @cpu on request, like the affinity of an interrupt. */
static int move_events(struct refpmu_uncore *uncore, unsigned int cpu)
{
	int err = 0;

	cpus_read_lock();
	if (cpu >= nr_cpu_ids || !cpu_online(cpu)) {
		err = -ENXIO;
	} else if (cpu != uncore->cpu) {
		const unsigned int before = uncore->cpu;

		WRITE_ONCE(uncore->cpu, cpu);
		perf_pmu_migrate_context(&uncore->pmu, before, cpu);
	}
	cpus_read_unlock();
	return err;
}

/* The kernel serializes writes to parameters, so this needs no lock. */
static int cpu_set(const char *text, const struct kernel_param *param)
{
	unsigned int cpu;
	int err = kstrtouint(text, 0, &cpu);

	if (err)
		return err;
	if (registered)
		return refpmu_uncore.scoped ? -EOPNOTSUPP : move_events(&refpmu_uncore, cpu);
	initial_cpu = cpu;
	return 0;
}

static int cpu_get(char *page, const struct kernel_param *param)
{
	return sysfs_emit(page, "%u\n", READ_ONCE(refpmu_uncore.cpu));
}

static const struct kernel_param_ops cpu_ops = {
	.set = cpu_set,
	.get = cpu_get,
};
module_param_cb(uncore_cpu, &cpu_ops, NULL, 0644);
MODULE_PARM_DESC(uncore_cpu, "CPU of the events of refpmu_uncore; only without uncore_scope");

static int register_pmu(struct refpmu_uncore *uncore)
{
	const int err = perf_pmu_register(&uncore->pmu, REFPMU_UNCORE_NAME, -1);

	registered = !err;
	return err;
}

/**
 * refpmu_uncore_online() - Register the PMU and designate a CPU.
 * @uncore: The PMU.
 *
 * cpus_read_lock() prevents hotplug from the choice of the CPU to the installation of the hotplug
 * callbacks. The PMU must be registered before its events can move.
 *
 * Return: 0 or an errno.
 */
int refpmu_uncore_online(struct refpmu_uncore *uncore)
{
	int err;

	if (uncore->scoped)
		return register_pmu(uncore);

	cpus_read_lock();
	uncore->cpu = initial_cpu;
	if (initial_cpu >= nr_cpu_ids || !cpu_online(initial_cpu))
		uncore->cpu = cpumask_first(cpu_online_mask);
	err = register_pmu(uncore);
	if (err)
		goto unlock;
	err = cpuhp_setup_state_nocalls_cpuslocked(CPUHP_AP_ONLINE_DYN, "perf/refpmu_uncore:online",
						   cpuhp_online, cpuhp_offline);
	if (err < 0) {
		registered = false;
		perf_pmu_unregister(&uncore->pmu);
		goto unlock;
	}
	uncore->hotplug = err;
	err = 0;
unlock:
	cpus_read_unlock();
	return err;
}

/*
 * Remove the hotplug callbacks first, because they need a registered PMU. No event exists that
 * would have to move.
 */
void refpmu_uncore_offline(struct refpmu_uncore *uncore)
{
	if (!uncore->scoped)
		cpuhp_remove_state_nocalls(uncore->hotplug);
	refpmu_compat_stop_rotation(&uncore->pmu);
	perf_pmu_unregister(&uncore->pmu);
}
