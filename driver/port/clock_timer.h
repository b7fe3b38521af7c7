/* SPDX-License-Identifier: GPL-2.0-only */
/* The timer of the automatic clock. */
#ifndef REFPMU_PORT_CLOCK_TIMER_H
#define REFPMU_PORT_CLOCK_TIMER_H

#include "core_pmu/cpu.h"

void refpmu_clock_setup(struct refpmu_cpu *cpuc);

#endif /* REFPMU_PORT_CLOCK_TIMER_H */
