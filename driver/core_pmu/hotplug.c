// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU hotplug. perf removes the events from a CPU before the CPU goes offline. The driver must then
 * stop what still runs for that CPU. When the CPU comes back, the driver must not rely on its
 * registers: a CPU that was only parked has preserved them.
 */
#include "bus.h"
#include "counter.h"
#include "device.h"
#include "hotplug.h"
#include "precise.h"

static int prepare_state;

/*
 * Clear all registers that can make a counter count, a record be written or the line rise.
 * Interrupts off.
 */
static void clean_registers(struct refpmu_cpu *cpuc)
{
	const struct refpmu_model_params *params = &cpuc->model.params;
	unsigned int i;

	refpmu_bus_write(cpuc, REFPMU_REG_GLOBAL_CTRL, 0);
	for (i = 0; i < params->general; i++)
		refpmu_bus_write(cpuc, REFPMU_REG_EVTSEL(i), 0);
	if (params->fixed)
		refpmu_bus_write(cpuc, REFPMU_REG_FIXED_CTR_CTRL, 0);
	if (params->records)
		refpmu_bus_write(cpuc, REFPMU_REG_PEBS_ENABLE, 0);
	if (params->lbr)
		refpmu_bus_write(cpuc, REFPMU_REG_DEBUGCTL, 0);
	refpmu_ack(cpuc, refpmu_bus_read(cpuc, REFPMU_REG_GLOBAL_STATUS));
}

static void prepare_cpu(struct refpmu_cpu *cpuc)
{
	unsigned long irqs;

	cpuc->n_events = 0;
	cpuc->txn = 0;
	cpuc->used = 0;
	cpuc->running = 0;
	cpuc->fixed_ctrl = 0;
	cpuc->fixed_written = 0;
	cpuc->disable_depth = 0;
	cpuc->masked = 0;
	cpuc->raised = false;
	cpuc->latched = false;
	cpuc->line_held = false;
	cpuc->clock_mode = REFPMU_CLOCK_MANUAL; /* the clock must not advance an absent CPU */
	cpuc->lbr.users = 0;
	memset(cpuc->owner, 0, sizeof(cpuc->owner));
	refpmu_precise_reset(cpuc);
	local_irq_save(irqs);
	clean_registers(cpuc);
	local_irq_restore(irqs);
	cpuc->clock_mode = REFPMU_CLOCK_AUTO;
	cpuc->clock_base = 0;
}

/* Runs when @cpu is not online yet, or has had no event so far. Nothing else uses its state. */
static int prepare(unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < refpmu_devices_count; i++)
		prepare_cpu(per_cpu_ptr(refpmu_devices[i].cpus, cpu));
	return 0;
}

/* @cpu is offline. A timer that it left behind has migrated to another CPU. */
static int dead(unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < refpmu_devices_count; i++)
		refpmu_quiesce(per_cpu_ptr(refpmu_devices[i].cpus, cpu));
	return 0;
}

/*
 * Install prepare() to run before a CPU comes online, so before its first event, and dead() to run
 * after it has stopped.
 */
int refpmu_hotplug_setup(void)
{
	int err = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "perf/refpmu:prepare", prepare, dead);

	if (err < 0)
		return err;
	prepare_state = err;
	return 0;
}

void refpmu_hotplug_teardown(void)
{
	cpuhp_remove_state_nocalls(prepare_state);
}
