// SPDX-License-Identifier: GPL-2.0-only
/* The state of refpmu_trace on each CPU, and CPU hotplug. */
#include <linux/cpuhotplug.h>

#include "trace.h"

struct refpmu_trace_cpu __percpu *refpmu_trace_cpus;
struct refpmu_trace_totals refpmu_trace_totals;

static enum cpuhp_state hotplug;

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
	t->line_held = false;
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

static int alloc_cpus(void)
{
	unsigned int cpu;

	refpmu_trace_cpus = alloc_percpu(struct refpmu_trace_cpu);
	if (!refpmu_trace_cpus)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		refpmu_trace_irq_setup(per_cpu_ptr(refpmu_trace_cpus, cpu));
	for_each_possible_cpu(cpu) {
		if (refpmu_journal_setup(&per_cpu_ptr(refpmu_trace_cpus, cpu)->journal)) {
			free_cpus();
			return -ENOMEM;
		}
	}
	return 0;
}

int refpmu_trace_cpus_setup(void)
{
	int err = alloc_cpus();

	if (err)
		return err;
	/* The callback must run before a CPU comes online, so before its first event. */
	err = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "perf/refpmu_trace:prepare", prepare, NULL);
	if (err < 0) {
		free_cpus();
		return err;
	}
	hotplug = err;
	return 0;
}

void refpmu_trace_cpus_teardown(void)
{
	cpuhp_remove_state_nocalls(hotplug);
	free_cpus();
}
