/* SPDX-License-Identifier: GPL-2.0-only */
/* One CPU's part in precise samples and in branch records: precise.c, lbr.c, sample.c. */
#ifndef REFPMU_GLUE_PRECISE_H
#define REFPMU_GLUE_PRECISE_H

#include <linux/perf_event.h>

#include "compat.h"
#include "core/branch.h"
#include "core/config.h"
#include "core/record.h"
#include "model/model.h"

struct refpmu_cpu;
struct refpmu_device;

/* The memory that the device writes records to: the DS area and its buffer. */
struct refpmu_precise_memory;

struct refpmu_precise {
	struct refpmu_precise_memory *memory; /* NULL: the device makes no records */
	u64 enabled; /* counters that make records, as in PEBS_ENABLE */
	u64 reloaded; /* of the ones with a precise owner: the device begins their next period */
	u64 prompt; /* of those enabled: their samples cannot wait in the buffer */
	u64 data_cfg;
	bool draining;
	u32 left[REFPMU_MAX_COUNTERS]; /* records to come in this drain, of each counter */
};

struct refpmu_lbr {
	unsigned int users; /* events that are attached */
	u64 select; /* that of all of them */
	u64 index; /* of the newest entry read last */
	unsigned int n;
	struct refpmu_pebs_lbr raw[REFPMU_MAX_LBR]; /* newest first */
	struct refpmu_branch_sample filtered[REFPMU_MAX_LBR];
	/* struct perf_branch_stack, with its entries */
	struct {
		u64 nr;
		u64 hw_idx;
		struct perf_branch_entry entries[REFPMU_MAX_LBR];
	} stack;
};

/* precise.c: the DS area, and from its records to counts and samples */
void *refpmu_precise_access(void *context, u64 address, u64 size);
u64 refpmu_record_time(void); /* the time stamp of a record that is made now */
int refpmu_precise_setup(struct refpmu_cpu *cpuc);
void refpmu_precise_free(struct refpmu_cpu *cpuc);
void refpmu_precise_reset(struct refpmu_cpu *cpuc);
void refpmu_precise_reload(struct refpmu_cpu *cpuc, struct perf_event *event, u64 raw);
void refpmu_precise_enable(struct refpmu_cpu *cpuc, struct perf_event *event);
void refpmu_precise_disable(struct refpmu_cpu *cpuc, struct perf_event *event);
void refpmu_precise_drain(struct refpmu_cpu *cpuc);
bool refpmu_precise_read(struct refpmu_cpu *cpuc, struct perf_event *event);

/* lbr.c: the branch records, and what is done at a switch of tasks */
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

/* sample.c: nonzero if perf wants no more samples of @event for now */
int refpmu_sample(struct refpmu_cpu *cpuc, struct perf_event *event);
int refpmu_sample_record(struct refpmu_cpu *cpuc, struct perf_event *event,
			 const struct refpmu_record *record, bool last);

#endif /* REFPMU_GLUE_PRECISE_H */
