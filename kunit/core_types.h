/* SPDX-License-Identifier: GPL-2.0-only */
/* Two core types, as with hybrid=1, in a kernel that has one. */
#ifndef REFPMU_KUNIT_CORE_TYPES_H
#define REFPMU_KUNIT_CORE_TYPES_H

#include <kunit/test.h>

#include "core_pmu/cpu.h"

/* The core type of the even CPUs, which replaces refpmu, and that of the odd CPUs. */
#define core_types_big (&refpmu_devices[0])
#define core_types_little (&refpmu_devices[1])
#define CORE_TYPES_BIG_CPU 0
#define CORE_TYPES_LITTLE_CPU 1

/* For .suite_init and .suite_exit of a suite. No event of refpmu may be open at that time. */
int core_types_set_up(struct kunit_suite *suite);
void core_types_tear_down(struct kunit_suite *suite);

#endif /* REFPMU_KUNIT_CORE_TYPES_H */
