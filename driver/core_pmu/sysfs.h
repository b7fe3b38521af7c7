/* SPDX-License-Identifier: GPL-2.0-only */
/* The sysfs files of the core PMUs. */
#ifndef REFPMU_CORE_PMU_SYSFS_H
#define REFPMU_CORE_PMU_SYSFS_H

#include <linux/sysfs.h>

extern const struct attribute_group *refpmu_attr_groups[];
int refpmu_sysfs_setup(void);
void refpmu_sysfs_teardown(void);

#endif /* REFPMU_CORE_PMU_SYSFS_H */
