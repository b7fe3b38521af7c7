// SPDX-License-Identifier: GPL-2.0-only
/* Context switches: the records of a task must not appear in samples of the next task. */
#include "compat/compat.h"
#include "lbr.h"
#include "port/log.h"
#include "task.h"
#include "transition.h"

static struct refpmu_cpu *cpu_of_core_type(void)
{
	unsigned int i;

	for (i = 0; i < refpmu_devices_count; i++) {
		if (cpumask_test_cpu(smp_processor_id(), &refpmu_devices[i].supported))
			return refpmu_this_cpu(&refpmu_devices[i]);
	}
	return NULL;
}

/*
 * Handle a context switch. Interrupts off. Before the old task leaves the CPU, its precise records
 * become samples, while it is still current. When the new task runs, it gets its own records.
 * Older kernels pass no context for events of a CPU, so the device is found by the current CPU.
 */
REFPMU_COMPAT_SCHED_TASK(refpmu_sched_task)
{
	struct refpmu_cpu *cpuc = cpu_of_core_type();

	if (!cpuc)
		return;
	refpmu_log_here(cpuc, REFPMU_CALL_SCHED_TASK, sched_in, 0);
	if (!sched_in)
		refpmu_precise_drain(cpuc);
	refpmu_lbr_switch_task(cpuc, REFPMU_COMPAT_TASK_DATA(&cpuc->dev->pmu), sched_in);
}

#ifdef REFPMU_COMPAT_SWAPS_CONTEXTS
/*
 * Two tasks exchange their perf contexts, with all events. The saved calls must stay with the task,
 * so swap them back.
 */
void refpmu_swap_task_ctx(struct refpmu_compat_context *prev, struct refpmu_compat_context *next)
{
	struct refpmu_cpu *cpuc = cpu_of_core_type();

	if (cpuc)
		refpmu_log_device(cpuc->dev, REFPMU_CALL_SWAP_TASK_CTX, 0, 0);
	swap(prev->task_ctx_data, next->task_ctx_data);
}
#endif
