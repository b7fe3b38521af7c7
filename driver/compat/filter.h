/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How perf asks where events may run. Older kernels ask about an event whether it can run
 * (filter_match). Newer ones ask about the PMU whether to skip it (filter). Kernels with this flag
 * are older ones.
 */
#ifndef REFPMU_COMPAT_FILTER_H
#define REFPMU_COMPAT_FILTER_H

#include <linux/perf_event.h>

#include "core_pmu/hybrid.h"

#ifdef PERF_PMU_CAP_HETEROGENEOUS_CPUS
static inline int refpmu_compat_filter(struct perf_event *event)
{
	return refpmu_runs_on(event->pmu, smp_processor_id());
}

#define REFPMU_COMPAT_FILTER .filter_match = refpmu_compat_filter
#else
static inline bool refpmu_compat_filter(struct pmu *pmu, int cpu)
{
	return !refpmu_runs_on(pmu, cpu);
}

#define REFPMU_COMPAT_FILTER .filter = refpmu_compat_filter
#endif

#endif /* REFPMU_COMPAT_FILTER_H */
