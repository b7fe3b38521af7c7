/* SPDX-License-Identifier: GPL-2.0-only */
/* Opening an event. */
#ifndef REFPMU_CORE_PMU_INIT_H
#define REFPMU_CORE_PMU_INIT_H

#include <linux/perf_event.h>

int refpmu_event_init(struct perf_event *event);

#endif /* REFPMU_CORE_PMU_INIT_H */
