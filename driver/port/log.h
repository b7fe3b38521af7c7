/* SPDX-License-Identifier: GPL-2.0-only */
/* Log the callbacks of a core PMU on the current CPU. */
#ifndef REFPMU_PORT_LOG_H
#define REFPMU_PORT_LOG_H

#include "core_pmu/cpu.h"

/* From any context. */
void refpmu_log_device(struct refpmu_device *dev, enum refpmu_call call, u64 flags, u64 event);
void refpmu_log_call(enum refpmu_call call, const struct perf_event *event, u64 flags);

/* Log a callback that runs with interrupts off. @cpuc is the current CPU's. */
static inline void refpmu_log_here(struct refpmu_cpu *cpuc, enum refpmu_call call, u64 flags,
				   u64 event)
{
	refpmu_journal_call(&cpuc->journal, call, flags, event);
}

#endif /* REFPMU_PORT_LOG_H */
