/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples. Both functions return nonzero if perf wants no more samples of @event for now. */
#ifndef REFPMU_CORE_PMU_SAMPLE_H
#define REFPMU_CORE_PMU_SAMPLE_H

#include "core/record.h"
#include "cpu.h"

int refpmu_sample(struct refpmu_cpu *cpuc, struct perf_event *event);
int refpmu_sample_record(struct refpmu_cpu *cpuc, struct perf_event *event,
			 const struct refpmu_record *record, bool last);

#endif /* REFPMU_CORE_PMU_SAMPLE_H */
