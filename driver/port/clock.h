/* SPDX-License-Identifier: GPL-2.0-only */
/* The automatic clock of a core PMU's model. */
#ifndef REFPMU_PORT_CLOCK_H
#define REFPMU_PORT_CLOCK_H

#include "core_pmu/cpu.h"

void refpmu_clock_advance(struct refpmu_cpu *cpuc);
void refpmu_clock_arm(struct refpmu_cpu *cpuc);
void refpmu_clock_resume(struct refpmu_cpu *cpuc, u64 now);
void refpmu_clock_mode(struct refpmu_cpu *cpuc, u32 mode);

/* For the timer of the clock. */
u64 refpmu_clock_elapsed(const struct refpmu_cpu *cpuc, u64 now);
bool refpmu_clock_stands_still(const struct refpmu_cpu *cpuc);

/* Advance the model to the current time. On its own CPU, interrupts off. */
static inline void refpmu_clock_sync(struct refpmu_cpu *cpuc)
{
	if (cpuc->clock_base)
		refpmu_clock_advance(cpuc);
}

#endif /* REFPMU_PORT_CLOCK_H */
