/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Settings, results and maps of the programs, and the look-ups in them. */
#ifndef PMUCONF_TOOLS_WATCH_BPF_STATE_H_
#define PMUCONF_TOOLS_WATCH_BPF_STATE_H_

#include "kernel.h"

/* Set by user space. */
__u32 event_fd = 0;
__u32 sees_enable = 0; /* the driver has its own pmu_enable and pmu_disable */

/* Set by find_pmu(). */
__u64 pmu = 0;
__u64 addresses[WATCH_CALLBACK_COUNT] = {};
__u32 pmu_type = 0;
__u32 event_type = 0;
__u64 event_id = 0;
__u64 disable_count = 0; /* per-CPU pointer; 0: depth() cannot know the count */
__u32 has_state = 0; /* the driver maintains hw.state; software PMUs do not */
__u32 interrupts = 0;

/* Results for user space. */
struct watch_calls calls[WATCH_CALLBACK_COUNT] = {};
struct watch_seen seen[WATCH_BREACH_COUNT] = {};

/* A call that has not returned yet. */
struct call {
	__u64 object; /* event or PMU; 0: none */
	__u64 time;
	__u64 count;
	__s64 left; /* period_left */
	__u32 flags;
	int state;
	int idx;
};

/* The state of a CPU. */
struct cpu {
	__u64 added; /* the event of the last add, until it is checked */
	__u32 txn; /* transaction: 0 unknown, 1 none, 2 open */
	__u32 txn_flags;
	int txn_depth;
};

/* The state of an event, by id: its address may be reused by another event. */
struct event_record {
	__u64 last; /* count at the newest overflow */
	__u64 counted; /* since the first overflow */
	__u64 periods; /* sum of the reported periods since then */
	__u64 period; /* of the newest overflow */
	__u64 left; /* count at the last del */
	__u32 gone; /* `left` is valid */
	__u32 to_stop; /* perf_event_overflow() returned nonzero */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WATCH_CALLBACK_COUNT);
	__type(key, __u32);
	__type(value, struct call);
} open_calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct event_record);
} events SEC(".maps");

static __always_inline struct cpu *this_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&cpus, &zero);
}

/* Returns NULL if the event has no state. */
static __always_inline struct event_record *find_record(__u64 object)
{
	struct perf_event___watch *event = (void *)object;
	__u64 id = BPF_CORE_READ(event, id);

	return bpf_map_lookup_elem(&events, &id);
}

static __always_inline struct event_record *record_of(__u64 object)
{
	struct perf_event___watch *event = (void *)object;
	__u64 id = BPF_CORE_READ(event, id);
	struct event_record none = {};

	bpf_map_update_elem(&events, &id, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&events, &id);
}

static __always_inline int state_of(struct perf_event___watch *event)
{
	return BPF_CORE_READ(event, hw.state) & (STOPPED | UPTODATE);
}

static __always_inline __u64 count_of(struct perf_event___watch *event)
{
	__u64 count = 0;

	bpf_core_read(&count, sizeof(count), &event->count);
	return count;
}

static __always_inline __s64 left_of(struct perf_event___watch *event)
{
	__s64 left = 0;

	bpf_core_read(&left, sizeof(left), &event->hw.period_left);
	return left;
}

/* Returns pmu_disable_count on this CPU, or 0 if it is unknown. */
static __always_inline int depth(void)
{
	__u64 offset = 0;
	int count = 0;

	if (!disable_count)
		return 0;
	bpf_probe_read_kernel(&offset, sizeof(offset),
			      (const char *)&__per_cpu_offset + 8 * bpf_get_smp_processor_id());
	bpf_probe_read_kernel(&count, sizeof(count), (void *)(disable_count + offset));
	return count;
}

#endif /* PMUCONF_TOOLS_WATCH_BPF_STATE_H_ */
