// SPDX-License-Identifier: GPL-2.0-only
/* Loading and unloading: parameters, one modelled device a CPU, and the PMU in front of them. */
#include <linux/module.h>
#include <linux/slab.h>

#include "compat.h"
#include "refpmu.h"

static unsigned int general = 4;
module_param(general, uint, 0444);
MODULE_PARM_DESC(general, "general counters, 1 to 32");

static unsigned int fixed = 3;
module_param(fixed, uint, 0444);
MODULE_PARM_DESC(fixed, "fixed counters, 0 to 3");

static unsigned int width = 48;
module_param(width, uint, 0444);
MODULE_PARM_DESC(width, "bits of a counter, 16 to 64");

static ulong min_period = 1;
module_param(min_period, ulong, 0444);
MODULE_PARM_DESC(min_period, "shortest sampling period, at least 1");

static bool as_cpu;
module_param_named(cpu, as_cpu, bool, 0444);
MODULE_PARM_DESC(cpu, "register as \"cpu\", the PMU that tools use for generic events");

struct refpmu_device refpmu_device;

static int check(const char *name, u64 value, u64 min, u64 max)
{
	if (value >= min && value <= max)
		return 0;
	pr_err("refpmu: %s=%llu: must be %llu to %llu\n", name, value, min, max);
	return -EINVAL;
}

static int check_params(void)
{
	return check("general", general, 1, REFPMU_MAX_GENERAL) ?:
	       check("fixed", fixed, 0, REFPMU_MAX_FIXED) ?:
	       check("width", width, 16, 64) ?:
	       check("min_period", min_period, 1, refpmu_period_counting(width));
}

/* Power-on state for @cpu, which is not online yet or has had no event so far. */
int refpmu_cpu_reset(unsigned int cpu)
{
	struct refpmu_cpu *cpuc = per_cpu_ptr(refpmu_device.cpus, cpu);

	cpuc->cpu = cpu;
	cpuc->n_events = 0;
	cpuc->txn = 0;
	cpuc->used = 0;
	cpuc->running = 0;
	cpuc->disable_depth = 0;
	cpuc->held = false;
	cpuc->clock_mode = REFPMU_CLOCK_AUTO;
	cpuc->clock_base = 0;
	memset(cpuc->owner, 0, sizeof(cpuc->owner));
	return refpmu_model_reset(&cpuc->model, &refpmu_device.params);
}

static void free_cpus(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct refpmu_cpu *cpuc = per_cpu_ptr(refpmu_device.cpus, cpu);

		kvfree(cpuc->log);
	}
	free_percpu(refpmu_device.cpus);
}

static int alloc_cpus(void)
{
	unsigned int cpu;

	refpmu_device.cpus = alloc_percpu(struct refpmu_cpu);
	if (!refpmu_device.cpus)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct refpmu_cpu *cpuc = per_cpu_ptr(refpmu_device.cpus, cpu);

		refpmu_irq_setup(cpuc);
		refpmu_clock_setup(cpuc);
		if (refpmu_log_setup(cpuc)) {
			free_cpus();
			return -ENOMEM;
		}
	}
	return 0;
}

/* No event is left, so nothing arms a timer or raises a line again. */
static void quiesce_cpus(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct refpmu_cpu *cpuc = per_cpu_ptr(refpmu_device.cpus, cpu);

		hrtimer_cancel(&cpuc->timer);
		irq_work_sync(&cpuc->pmi);
	}
}

static void describe(struct refpmu_device *dev)
{
	dev->params = (struct refpmu_model_params){
		.general = general,
		.fixed = fixed,
		.width = width,
	};
	dev->caps = (struct refpmu_caps){
		.general = general,
		.fixed = fixed,
		.width = width,
		.min_period = min_period,
	};
	dev->pmu = refpmu_pmu_ops;
}

/* The first event may arrive before perf_pmu_register() returns: everything is ready by then. */
static int register_all(void)
{
	int err = refpmu_port_register();

	if (err)
		return err;
	if (as_cpu)
		err = perf_pmu_register(&refpmu_device.pmu, "cpu", PERF_TYPE_RAW);
	else
		err = perf_pmu_register(&refpmu_device.pmu, "refpmu", -1);
	if (err) {
		pr_err("refpmu: perf refused the PMU: %d\n", err);
		refpmu_port_unregister();
	}
	return err;
}

static int __init refpmu_init(void)
{
	int err = check_params() ?: refpmu_compat_setup();

	if (err)
		return err;
	describe(&refpmu_device);
	err = alloc_cpus();
	if (err)
		return err;
	/* Before the CPU runs, so that no event can come first. */
	err = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "perf/refpmu:prepare",
				refpmu_cpu_reset, NULL);
	if (err < 0)
		goto free;
	refpmu_device.hotplug = err;
	err = refpmu_sysfs_setup();
	if (err)
		goto hotplug;
	err = register_all();
	if (!err)
		return 0;

	refpmu_sysfs_teardown();
hotplug:
	cpuhp_remove_state_nocalls(refpmu_device.hotplug);
free:
	quiesce_cpus();
	free_cpus();
	return err;
}

static void __exit refpmu_exit(void)
{
	perf_pmu_unregister(&refpmu_device.pmu);
	refpmu_port_unregister();
	refpmu_sysfs_teardown();
	cpuhp_remove_state_nocalls(refpmu_device.hotplug);
	quiesce_cpus();
	free_cpus();
}

module_init(refpmu_init);
module_exit(refpmu_exit);

MODULE_DESCRIPTION("Reference performance monitor on a modelled device");
MODULE_LICENSE("GPL");
