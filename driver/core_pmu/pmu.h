/* SPDX-License-Identifier: GPL-2.0-only */
/* The callbacks of a core PMU, as perf calls them. */
#ifndef REFPMU_CORE_PMU_PMU_H
#define REFPMU_CORE_PMU_PMU_H

#include <linux/perf_event.h>

extern const struct pmu refpmu_pmu_ops;
int refpmu_add(struct perf_event *event, int flags);
void refpmu_del(struct perf_event *event, int flags);
void refpmu_start(struct perf_event *event, int flags);
void refpmu_stop(struct perf_event *event, int flags);
void refpmu_read(struct perf_event *event);

#endif /* REFPMU_CORE_PMU_PMU_H */
