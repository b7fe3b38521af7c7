/* SPDX-License-Identifier: GPL-2.0-only */
/* The work clock: the model of a core PMU counts what its CPU executes. */
#ifndef REFPMU_PORT_WORK_H
#define REFPMU_PORT_WORK_H

#include "core_pmu/cpu.h"

/* Cycles that each instruction takes. The model's clock divider for instructions is the same. */
#define REFPMU_WORK_CPI 2

void refpmu_work_begin(struct refpmu_cpu *cpuc);
void refpmu_work_catch_up(struct refpmu_cpu *cpuc, struct pt_regs *regs);
u64 refpmu_work_delay(struct refpmu_cpu *cpuc);
void refpmu_work_timer(struct refpmu_cpu *cpuc, struct pt_regs *regs);
void refpmu_work_run_on(struct refpmu_cpu *cpuc);
void refpmu_work_settle(struct refpmu_cpu *cpuc);

#endif /* REFPMU_PORT_WORK_H */
