/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared code of the suites of refpmu_trace: an event with an AUX area, branches, and the trace. */
#ifndef REFPMU_KUNIT_TRACE_RIG_H
#define REFPMU_KUNIT_TRACE_RIG_H

#include <kunit/test.h>

#include "compat/compat.h"
#include "trace/trace.h"
/* of kernel/events: functions for ring buffers, which otherwise only mmap() creates */
#include "internal.h"

#define TRACE_RIG_RECORD ((unsigned int)sizeof(struct refpmu_bts_record))
#define TRACE_RIG_RECORDING (REFPMU_DEBUGCTL_TR | REFPMU_DEBUGCTL_BTS)

struct trace_rig {
	struct pmu *pmu;
	struct refpmu_trace_cpu *t;
	struct perf_event *event;
	struct perf_buffer *rb; /* buffer of the event */
	u64 generated; /* number of branches so far */
};

/* For .init and .exit of a suite. */
int trace_rig_init(struct kunit *test);
void trace_rig_exit(struct kunit *test);

/* Return the number of events that event_init has accepted and that still exist. */
static inline u64 trace_rig_live(void)
{
	return atomic64_read(&refpmu_trace_totals.live);
}

/* Return the attr of an event of this PMU that is opened disabled. */
struct perf_event_attr trace_rig_attr(const struct trace_rig *rig);

/* Open the event of the case; the case fails if it cannot be opened. */
void trace_rig_open(struct kunit *test, struct perf_event_attr *attr);

/* Create the data page and the AUX area, as perf does for mmap(). */
void trace_rig_map(struct kunit *test, unsigned int pages, bool snapshot);

/* Free the buffer, as perf does for the last munmap(). */
void trace_rig_free_buffer(struct trace_rig *rig);

/* Open the event of the case, and create its data page and AUX area. */
void trace_rig_open_mapped(struct kunit *test, unsigned int pages, bool snapshot);

/* Create an event as perf passes it to event_init: it is its own leader, and on no list. */
struct perf_event *trace_rig_new_event(struct kunit *test, const struct perf_event_attr *attr);

u64 trace_rig_reg(const struct trace_rig *rig, u32 number);

/* Wait until perf has disabled @event, which it does in an interrupt. Interrupts on. */
bool trace_rig_wait_disabled(const struct perf_event *event);

/* Generate the next branch, with interrupts on or off. */
void trace_rig_generate_one(struct trace_rig *rig, enum refpmu_privilege privilege);

/* Generate the next @n branches and wait for the handler after each. Interrupts on. */
void trace_rig_generate(struct kunit *test, unsigned int n);

/* Return the record at @offset of the area, from the pages that the reader sees. */
const struct refpmu_bts_record *trace_rig_record_at(const struct trace_rig *rig,
						    unsigned int offset);

/*
 * Expect @n records from @offset on to be those of the branches from @first on. No record crosses a
 * page.
 */
void trace_rig_expect_branches(struct kunit *test, unsigned int offset, unsigned int n, u64 first);

/* Summary of the records that perf wrote to the ring buffer. */
struct trace_rig_summary {
	unsigned int starts; /* PERF_RECORD_ITRACE_START */
	unsigned int records; /* PERF_RECORD_AUX */
	u64 bytes; /* number of bytes in them */
	unsigned int truncated;
	u64 last_flags;
};

struct trace_rig_summary trace_rig_summary(const struct trace_rig *rig);

/* Return aux_head: the position behind the last record that the reader may read. */
static inline u64 trace_rig_head(const struct trace_rig *rig)
{
	return READ_ONCE(rig->rb->user_page->aux_head);
}

#endif /* REFPMU_KUNIT_TRACE_RIG_H */
