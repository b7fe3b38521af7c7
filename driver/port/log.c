// SPDX-License-Identifier: GPL-2.0-only
/* Log the callbacks of a core PMU in the journal of the CPU. */
#include "log.h"

void refpmu_log_device(struct refpmu_device *dev, enum refpmu_call call, u64 flags, u64 event)
{
	unsigned long irqs;

	local_irq_save(irqs);
	refpmu_journal_call(&refpmu_this_cpu(dev)->journal, call, flags, event);
	local_irq_restore(irqs);
}

void refpmu_log_call(enum refpmu_call call, const struct perf_event *event, u64 flags)
{
	refpmu_log_device(to_refpmu(event->pmu), call, flags, event->id);
}
