/* SPDX-License-Identifier: GPL-2.0-only */
/* Two core types. */
#ifndef REFPMU_CORE_PMU_HYBRID_H
#define REFPMU_CORE_PMU_HYBRID_H

#include "cpu.h"

void refpmu_hybrid_describe(struct refpmu_device *dev, unsigned int kind);
bool refpmu_runs_on(struct pmu *pmu, int cpu);

#endif /* REFPMU_CORE_PMU_HYBRID_H */
