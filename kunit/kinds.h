/* SPDX-License-Identifier: GPL-2.0-only */
/* Two kinds of core in a kernel that has one: those that the driver has with hybrid=1. */
#ifndef REFPMU_KUNIT_KINDS_H
#define REFPMU_KUNIT_KINDS_H

#include <kunit/test.h>

#include "glue/refpmu.h"

/* Those of the even CPUs, instead of refpmu, and of the odd ones. */
#define kinds_big (&refpmu_devices[0])
#define kinds_little (&refpmu_devices[1])
#define KINDS_BIG_CPU 0
#define KINDS_LITTLE_CPU 1

/* A suite's .suite_init and .suite_exit: no event of refpmu is open then. */
int kinds_begin(struct kunit_suite *suite);
void kinds_end(struct kunit_suite *suite);

#endif /* REFPMU_KUNIT_KINDS_H */
