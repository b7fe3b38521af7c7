/* SPDX-License-Identifier: GPL-2.0-only */
/* Context switches. */
#ifndef REFPMU_CORE_PMU_TASK_H
#define REFPMU_CORE_PMU_TASK_H

#include "compat/compat.h"

REFPMU_COMPAT_SCHED_TASK(refpmu_sched_task);
#ifdef REFPMU_COMPAT_SWAPS_CONTEXTS
void refpmu_swap_task_ctx(struct refpmu_compat_context *prev, struct refpmu_compat_context *next);
#endif

#endif /* REFPMU_CORE_PMU_TASK_H */
