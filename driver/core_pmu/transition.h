/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of an event, and the drain of the records that it leaves. */
#ifndef REFPMU_CORE_PMU_TRANSITION_H
#define REFPMU_CORE_PMU_TRANSITION_H

#include "core/state.h"
#include "cpu.h"

void refpmu_apply_op(struct refpmu_cpu *cpuc, struct perf_event *event, enum refpmu_op op);
void refpmu_precise_drain(struct refpmu_cpu *cpuc);
bool refpmu_precise_read(struct refpmu_cpu *cpuc, struct perf_event *event);

#endif /* REFPMU_CORE_PMU_TRANSITION_H */
