/* SPDX-License-Identifier: GPL-2.0-only */
/* Per-CPU state of precise samples and branch records: precise.c, lbr.c, sample.c. */
#ifndef REFPMU_GLUE_PRECISE_H
#define REFPMU_GLUE_PRECISE_H

#include <linux/perf_event.h>

#include "compat/compat.h"
#include "core/branch.h"
#include "core/config.h"
#include "core/record.h"
#include "model/model.h"

struct refpmu_cpu;
struct refpmu_device;

/* Memory that the device writes to: the DS area and the record buffer. */
struct refpmu_precise_memory;

struct refpmu_precise {
	struct refpmu_precise_memory *memory; /* NULL: the device has no records */
	u64 enabled; /* counters that write records, as in PEBS_ENABLE */
	u64 reloaded; /* counters that the device reloads with a whole period */
	u64 prompt; /* enabled counters whose samples cannot wait in the buffer */
	u64 data_cfg;
	bool draining;
	u32 left[REFPMU_MAX_COUNTERS]; /* records of each counter that remain in this drain */
};

struct refpmu_lbr {
	unsigned int users; /* number of attached events with branch records */
	u64 select; /* LBR_SELECT, the same for all users */
	u64 index; /* index of the newest entry at the last read */
	unsigned int n;
	struct refpmu_pebs_lbr raw[REFPMU_MAX_LBR]; /* newest first */
	struct refpmu_branch_sample filtered[REFPMU_MAX_LBR];
	/* The layout of struct perf_branch_stack, with space for its entries. */
	struct {
		u64 nr;
		u64 hw_idx;
		struct perf_branch_entry entries[REFPMU_MAX_LBR];
	} stack;
};

/* precise.c: the DS area, and the conversion of its records to counts and samples */
void *refpmu_precise_access(void *context, u64 address, u64 size);
u64 refpmu_record_time(void); /* time stamp for a record */
int refpmu_precise_setup(struct refpmu_cpu *cpuc);
void refpmu_precise_free(struct refpmu_cpu *cpuc);
void refpmu_precise_reset(struct refpmu_cpu *cpuc);
void refpmu_precise_reload(struct refpmu_cpu *cpuc, struct perf_event *event, u64 raw);
void refpmu_precise_enable(struct refpmu_cpu *cpuc, struct perf_event *event);
void refpmu_precise_disable(struct refpmu_cpu *cpuc, struct perf_event *event);
void refpmu_precise_drain(struct refpmu_cpu *cpuc);
bool refpmu_precise_read(struct refpmu_cpu *cpuc, struct perf_event *event);

/* lbr.c: branch records and context switches */
void refpmu_lbr_switch(struct refpmu_cpu *cpuc, bool on);
void refpmu_lbr_read(struct refpmu_cpu *cpuc);
struct perf_branch_stack *refpmu_lbr_stack(struct refpmu_cpu *cpuc, const struct perf_event *event,
					   const struct refpmu_pebs_lbr *raw, unsigned int n,
					   u64 index);
int refpmu_lbr_setup(struct refpmu_device *dev);
void refpmu_lbr_teardown(struct refpmu_device *dev);
void refpmu_attach(struct refpmu_cpu *cpuc, struct perf_event *event);
void refpmu_detach(struct refpmu_cpu *cpuc, struct perf_event *event);
REFPMU_COMPAT_SCHED_TASK(refpmu_sched_task);
void refpmu_swap_task_ctx(struct refpmu_compat_context *prev, struct refpmu_compat_context *next);

/* sample.c: both functions return nonzero if perf wants no more samples of @event for now */
int refpmu_sample(struct refpmu_cpu *cpuc, struct perf_event *event);
int refpmu_sample_record(struct refpmu_cpu *cpuc, struct perf_event *event,
			 const struct refpmu_record *record, bool last);

#endif /* REFPMU_GLUE_PRECISE_H */
