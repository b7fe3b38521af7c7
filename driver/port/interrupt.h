/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that the clock and the stimulus port need from the owner of the model: core_pmu/irq.c
 * and core_pmu/precise.c define them for the reference driver, msr/ for the kernel's own drivers.
 */
#ifndef REFPMU_PORT_INTERRUPT_H
#define REFPMU_PORT_INTERRUPT_H

#include "core_pmu/cpu.h"

/* The interrupt is an NMI. */
extern bool refpmu_pmi_is_nmi;

/* Raise the interrupt of @cpuc, on its own CPU. */
void refpmu_raise_pmi(struct refpmu_cpu *cpuc);

/* The same, in a hard interrupt. */
void refpmu_raise_pmi_in_irq(struct refpmu_cpu *cpuc);

/* Return the time stamp for a record. */
u64 refpmu_record_time(void);

#endif /* REFPMU_PORT_INTERRUPT_H */
