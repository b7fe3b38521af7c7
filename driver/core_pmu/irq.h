/* SPDX-License-Identifier: GPL-2.0-only */
/* The interrupt and the overflow handler. */
#ifndef REFPMU_CORE_PMU_IRQ_H
#define REFPMU_CORE_PMU_IRQ_H

#include <linux/interrupt.h>

#include "cpu.h"
#include "port/work.h"

irqreturn_t refpmu_irq(struct refpmu_cpu *cpuc);
irqreturn_t refpmu_nmi(struct refpmu_cpu *cpuc);
void refpmu_unmask(struct refpmu_cpu *cpuc);
void refpmu_irq_setup(struct refpmu_cpu *cpuc);

/* Mask the handler until refpmu_unmask(). Calls nest. */
static inline void refpmu_mask(struct refpmu_cpu *cpuc)
{
	refpmu_work_settle(cpuc);
	cpuc->masked++;
	barrier();
}

#endif /* REFPMU_CORE_PMU_IRQ_H */
