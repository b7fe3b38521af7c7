// SPDX-License-Identifier: GPL-2.0-only
/* CPUs that come and go: each starts with its registers as at power-on. */
#include "refpmu.h"

static int prepare_state;

static int reset_cpu(struct refpmu_device *dev, unsigned int cpu)
{
	struct refpmu_cpu *cpuc = per_cpu_ptr(dev->cpus, cpu);
	struct refpmu_model_params params = dev->params;

	params.memory = refpmu_precise_access; /* each device sees the memory of its own CPU */
	params.context = cpuc;
	cpuc->n_events = 0;
	cpuc->txn = 0;
	cpuc->used = 0;
	cpuc->running = 0;
	cpuc->disable_depth = 0;
	cpuc->masked = 0;
	cpuc->raised = false;
	cpuc->latched = false;
	cpuc->held = false;
	cpuc->clock_mode = REFPMU_CLOCK_AUTO;
	cpuc->clock_base = 0;
	cpuc->lbr.users = 0;
	memset(cpuc->owner, 0, sizeof(cpuc->owner));
	refpmu_precise_reset(cpuc);
	return refpmu_model_reset(&cpuc->model, &params);
}

/* @cpu is not online yet, or has had no event so far. */
static int prepare(unsigned int cpu)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < refpmu_devices_count; i++)
		err = err ?: reset_cpu(&refpmu_devices[i], cpu);
	return err;
}

/* Before a CPU runs, so that no event can come first. */
int refpmu_hotplug_setup(void)
{
	int err = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "perf/refpmu:prepare", prepare, NULL);

	if (err < 0)
		return err;
	prepare_state = err;
	return 0;
}

void refpmu_hotplug_teardown(void)
{
	cpuhp_remove_state_nocalls(prepare_state);
}
