// SPDX-License-Identifier: GPL-2.0-only
/* One core type: the memory of its CPUs, its PMU and its stimulus port. */
#include <linux/slab.h>

#include "compat/compat.h"
#include "device.h"
#include "irq.h"
#include "lbr.h"
#include "pmu.h"
#include "port/clock_timer.h"
#include "port/interrupt.h"
#include "port/stimulus.h"
#include "port/work_page.h"
#include "precise.h"

static void free_cpus(struct refpmu_device *dev)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct refpmu_cpu *cpuc = per_cpu_ptr(dev->cpus, cpu);

		refpmu_journal_free(&cpuc->journal);
		refpmu_precise_free(cpuc);
	}
	free_percpu(dev->cpus);
}

static int setup_cpu(struct refpmu_device *dev, unsigned int cpu)
{
	struct refpmu_cpu *cpuc = per_cpu_ptr(dev->cpus, cpu);
	struct refpmu_model_params params = dev->params;

	cpuc->dev = dev;
	cpuc->cpu = cpu;
	refpmu_irq_setup(cpuc);
	refpmu_clock_setup(cpuc);
	refpmu_work_connect(cpuc);
	/* each device can access only the memory of its own CPU */
	params.memory = refpmu_precise_access;
	params.context = cpuc;
	return refpmu_model_reset(&cpuc->model, &params) ?:
	       refpmu_journal_setup(&cpuc->journal) ?: refpmu_precise_setup(cpuc);
}

/**
 * refpmu_device_setup() - Allocate the state of the CPUs of a core type.
 * @dev: The device; its name, parameters and CPUs are set.
 *
 * Return: 0 or an errno.
 */
int refpmu_device_setup(struct refpmu_device *dev)
{
	unsigned int cpu;
	int err = 0;

	dev->cpus = alloc_percpu(struct refpmu_cpu);
	if (!dev->cpus)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		err = err ?: setup_cpu(dev, cpu);
	if (err)
		free_cpus(dev);
	return err;
}

/*
 * Wait for the irq_work and stop the timer of @cpuc. The irq_work comes first because it may arm
 * the timer. No event exists that could raise the line again.
 */
void refpmu_quiesce(struct refpmu_cpu *cpuc)
{
	irq_work_sync(&cpuc->pmi);
	hrtimer_cancel(&cpuc->timer);
}

/* Free the state of @dev. Its PMU and its port must be unregistered, so that nothing uses it. */
void refpmu_device_teardown(struct refpmu_device *dev)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		refpmu_quiesce(per_cpu_ptr(dev->cpus, cpu));
	free_cpus(dev);
}

/**
 * refpmu_device_register() - Register the PMU and the port of a core type.
 * @dev: The device.
 * @as_cpu: Register the PMU under the name "cpu".
 *
 * perf may call event_init before perf_pmu_register() returns, so everything is set up by then.
 *
 * Return: 0 or an errno.
 */
int refpmu_device_register(struct refpmu_device *dev, bool as_cpu)
{
	int err;

	dev->port.handlers = refpmu_stimulus_handlers;
	dev->port.cpus = &dev->supported;
	dev->port.journal = refpmu_stimulus_journal;
	err = refpmu_port_register(&dev->port, dev->name);
	if (err)
		return err;
	dev->pmu = refpmu_pmu_ops;
	err = refpmu_lbr_setup(dev);
	if (err) {
		refpmu_port_unregister(&dev->port);
		return err;
	}
	if (!refpmu_pmi_is_nmi)
		dev->pmu.capabilities |= PERF_PMU_CAP_NO_NMI;
	if (as_cpu)
		err = perf_pmu_register(&dev->pmu, "cpu", PERF_TYPE_RAW);
	else
		err = perf_pmu_register(&dev->pmu, dev->name, -1);
	if (err) {
		pr_err("refpmu: perf refused the PMU %s: %d\n", dev->name, err);
		refpmu_lbr_teardown(dev);
		refpmu_port_unregister(&dev->port);
	}
	return err;
}

/* Unregister @dev. It has no events, because each event holds a reference to the module. */
void refpmu_device_unregister(struct refpmu_device *dev)
{
	refpmu_compat_unregister(&dev->pmu);
	refpmu_lbr_teardown(dev);
	refpmu_port_unregister(&dev->port);
}
