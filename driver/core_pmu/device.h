/* SPDX-License-Identifier: GPL-2.0-only */
/* One core type, from its parameters to a registered PMU and back. */
#ifndef REFPMU_CORE_PMU_DEVICE_H
#define REFPMU_CORE_PMU_DEVICE_H

#include "cpu.h"

int refpmu_device_setup(struct refpmu_device *dev);
void refpmu_device_teardown(struct refpmu_device *dev);
int refpmu_device_register(struct refpmu_device *dev, bool as_cpu);
void refpmu_device_unregister(struct refpmu_device *dev);
void refpmu_quiesce(struct refpmu_cpu *cpuc);

#endif /* REFPMU_CORE_PMU_DEVICE_H */
