/* SPDX-License-Identifier: GPL-2.0-only */
/* The work page: find it on the PCI bus, check it, and connect the CPUs of a device to it. */
#ifndef REFPMU_PORT_WORK_PAGE_H
#define REFPMU_PORT_WORK_PAGE_H

#include "core_pmu/cpu.h"

int refpmu_work_map(void);
void refpmu_work_unmap(void);
void refpmu_work_connect(struct refpmu_cpu *cpuc);

#endif /* REFPMU_PORT_WORK_PAGE_H */
