/* SPDX-License-Identifier: GPL-2.0-only */
/* Assignment of counters to events. */
#ifndef REFPMU_CORE_PMU_SCHEDULE_H
#define REFPMU_CORE_PMU_SCHEDULE_H

#include "cpu.h"

int refpmu_schedule(struct refpmu_cpu *cpuc);
int refpmu_validate_group(struct perf_event *event);
void refpmu_release(struct refpmu_cpu *cpuc, struct perf_event *event);

#endif /* REFPMU_CORE_PMU_SCHEDULE_H */
