/* SPDX-License-Identifier: GPL-2.0-only */
/* One event on its counter: program it, enable it, fold it. */
#ifndef REFPMU_CORE_PMU_COUNTER_H
#define REFPMU_CORE_PMU_COUNTER_H

#include "cpu.h"

void refpmu_update(struct refpmu_cpu *cpuc, struct perf_event *event);
bool refpmu_set_period(struct refpmu_cpu *cpuc, struct perf_event *event);
void refpmu_renew(struct refpmu_cpu *cpuc, struct perf_event *event);
void refpmu_counter_enable(struct refpmu_cpu *cpuc, const struct hw_perf_event *hwc);
void refpmu_counter_disable(struct refpmu_cpu *cpuc, const struct hw_perf_event *hwc);
void refpmu_ack(struct refpmu_cpu *cpuc, u64 status);
void refpmu_fixed_flush(struct refpmu_cpu *cpuc);

#endif /* REFPMU_CORE_PMU_COUNTER_H */
