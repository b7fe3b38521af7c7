/* SPDX-License-Identifier: GPL-2.0-only */
/* Branch records. */
#ifndef REFPMU_CORE_PMU_LBR_H
#define REFPMU_CORE_PMU_LBR_H

#include "cpu.h"

void refpmu_lbr_switch(struct refpmu_cpu *cpuc, bool on);
void refpmu_lbr_read(struct refpmu_cpu *cpuc);
struct perf_branch_stack *refpmu_lbr_stack(struct refpmu_cpu *cpuc, const struct perf_event *event,
					   const struct refpmu_pebs_lbr *raw, unsigned int n,
					   u64 index);

/* The open calls of a task that is not running. */
struct refpmu_task_calls;

void refpmu_lbr_switch_task(struct refpmu_cpu *cpuc, struct refpmu_task_calls *calls,
			    bool sched_in);
int refpmu_lbr_setup(struct refpmu_device *dev);
void refpmu_lbr_teardown(struct refpmu_device *dev);
void refpmu_attach(struct refpmu_cpu *cpuc, struct perf_event *event);
void refpmu_detach(struct refpmu_cpu *cpuc, struct perf_event *event);

#endif /* REFPMU_CORE_PMU_LBR_H */
