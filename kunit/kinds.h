/* SPDX-License-Identifier: GPL-2.0-only */
/* Two core types, as with hybrid=1, in a kernel that has one. */
#ifndef REFPMU_KUNIT_KINDS_H
#define REFPMU_KUNIT_KINDS_H

#include <kunit/test.h>

#include "core_pmu/cpu.h"

/* The core type of the even CPUs, which replaces refpmu, and that of the odd CPUs. */
#define kinds_big (&refpmu_devices[0])
#define kinds_little (&refpmu_devices[1])
#define KINDS_BIG_CPU 0
#define KINDS_LITTLE_CPU 1

/* For .suite_init and .suite_exit of a suite. No event of refpmu may be open at that time. */
int kinds_begin(struct kunit_suite *suite);
void kinds_end(struct kunit_suite *suite);

#endif /* REFPMU_KUNIT_KINDS_H */
