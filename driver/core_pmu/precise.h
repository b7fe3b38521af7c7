/* SPDX-License-Identifier: GPL-2.0-only */
/* Precise events: the record buffer, and the counters that write records to it. */
#ifndef REFPMU_CORE_PMU_PRECISE_H
#define REFPMU_CORE_PMU_PRECISE_H

#include <linux/sizes.h>

#include "cpu.h"

#define REFPMU_BUFFER_BYTES (60 * SZ_1K)

/* Memory that the device writes to. */
struct refpmu_precise_memory {
	struct refpmu_ds area;
	u64 words[REFPMU_BUFFER_BYTES / sizeof(u64)];
};

/*
 * Return the address of the buffer. The driver does not read it from the DS area, which only the
 * device may trust.
 */
static inline u64 refpmu_buffer_base(const struct refpmu_precise *p)
{
	return (u64)(uintptr_t)p->memory->words;
}

void *refpmu_precise_access(void *context, u64 address, u64 size);
int refpmu_precise_setup(struct refpmu_cpu *cpuc);
void refpmu_precise_free(struct refpmu_cpu *cpuc);
void refpmu_precise_reset(struct refpmu_cpu *cpuc);
void refpmu_precise_reload(struct refpmu_cpu *cpuc, struct perf_event *event, u64 raw);
void refpmu_precise_enable(struct refpmu_cpu *cpuc, struct perf_event *event);
void refpmu_precise_disable(struct refpmu_cpu *cpuc, struct perf_event *event);

#endif /* REFPMU_CORE_PMU_PRECISE_H */
