/* SPDX-License-Identifier: GPL-2.0-only */
/* CPU hotplug. */
#ifndef REFPMU_CORE_PMU_HOTPLUG_H
#define REFPMU_CORE_PMU_HOTPLUG_H

int refpmu_hotplug_setup(void);
void refpmu_hotplug_teardown(void);

#endif /* REFPMU_CORE_PMU_HOTPLUG_H */
