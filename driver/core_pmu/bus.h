/* SPDX-License-Identifier: GPL-2.0-only */
/* The only path from the driver to the registers. */
#ifndef REFPMU_CORE_PMU_BUS_H
#define REFPMU_CORE_PMU_BUS_H

#include "cpu.h"

u64 refpmu_bus_read(struct refpmu_cpu *cpuc, u32 reg);
void refpmu_bus_write(struct refpmu_cpu *cpuc, u32 reg, u64 value);

#endif /* REFPMU_CORE_PMU_BUS_H */
