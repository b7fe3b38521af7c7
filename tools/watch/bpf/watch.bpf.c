/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Checks the callbacks of one struct pmu at their entry and return. Records their durations and
 * breaches of the driver contract.
 *
 * The kernel skips a program that would interrupt another one, so calls can be missed. Therefore
 * each check needs only one call, or assumes correct behaviour for a missed one.
 */
#include "judge_entry.h"
#include "judge_return.h"

/* Returns whether the call is for the watched PMU. Other PMUs may share its callbacks. */
static __always_inline int is_ours(__u32 callback, __u64 object)
{
	struct perf_event___watch *event = (void *)object;

	switch (callback) {
	case WATCH_pmu_enable:
	case WATCH_pmu_disable:
	case WATCH_start_txn:
	case WATCH_commit_txn:
	case WATCH_cancel_txn:
		return object == pmu;
	}
	return (__u64)BPF_CORE_READ(event, pmu) == pmu;
}

/* User space runs this with BPF_PROG_TEST_RUN in the process that has the event open. */
SEC("raw_tp")
int find_pmu(void *ctx)
{
	struct task_struct___watch *task = (void *)bpf_get_current_task();
	struct file___watch **files = BPF_CORE_READ(task, files, fdt, fd);
	struct file___watch *file = NULL;
	struct perf_event___watch *event;
	struct pmu___watch *found;

	bpf_probe_read_kernel(&file, sizeof(file), &files[event_fd]);
	event = BPF_CORE_READ(file, private_data);
	found = BPF_CORE_READ(event, pmu);
	pmu = (__u64)found;
	pmu_type = BPF_CORE_READ(found, type);
	event_type = BPF_CORE_READ(event, attr.type);
	event_id = BPF_CORE_READ(event, id);
	if (&__per_cpu_offset && bpf_core_field_exists(found->pmu_disable_count))
		disable_count = (__u64)BPF_CORE_READ(found, pmu_disable_count);
	/* 1 is perf_sw_context. A trace event may find no room in the AUX area and stay stopped. */
	has_state = BPF_CORE_READ(found, task_ctx_nr) != 1 && !BPF_CORE_READ(found, setup_aux);
	interrupts = !(BPF_CORE_READ(found, capabilities) & CAP_NO_INTERRUPT);
#define X(name) addresses[WATCH_##name] = (__u64)BPF_CORE_READ(found, name);
	WATCH_CALLBACKS(X)
#undef X
	return 0;
}

SEC("kprobe")
int entered(REGISTERS *ctx)
{
	__u64 callback = bpf_get_attach_cookie(ctx);
	__u32 key = callback;
	__u64 object = ARGUMENT(ctx, 0);
	struct perf_event___watch *event = (void *)object;
	struct call *call = bpf_map_lookup_elem(&open_calls, &key);

	if (!call || !is_ours(callback, object))
		return 0;
	call->object = object;
	call->flags = ARGUMENT(ctx, 1);
	if (callback == WATCH_read || callback == WATCH_event_init)
		call->flags = 0; /* these callbacks have no flags */
	if (callback >= WATCH_add && callback <= WATCH_read) {
		call->state = state_of(event);
		call->idx = BPF_CORE_READ(event, hw.idx);
		call->count = count_of(event);
		call->left = left_of(event);
	}
	judge_entry(ctx, callback, call);
	call->time = bpf_ktime_get_ns();
	return 0;
}

SEC("kretprobe")
int returned(REGISTERS *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	__u64 callback = bpf_get_attach_cookie(ctx);
	__u32 key = callback;
	struct call *call = bpf_map_lookup_elem(&open_calls, &key);
	struct watch_calls *all;
	struct call done;
	__u64 time;
	int bucket = 0;

	if (!call || !call->object || callback >= WATCH_CALLBACK_COUNT)
		return 0;
	done = *call;
	call->object = 0;
	judge_return(callback, &done, RESULT(ctx));

	all = &calls[callback];
	time = now - done.time;
	__sync_fetch_and_add(&all->calls, 1);
	__sync_fetch_and_add(&all->total, time);
	if (time > all->longest)
		all->longest = time;
	for (; bucket < WATCH_BUCKETS - 1 && time; time >>= 1)
		bucket++;
	__sync_fetch_and_add(&all->buckets[bucket & (WATCH_BUCKETS - 1)], 1);
	return 0;
}

SEC("kprobe")
int overflowed(REGISTERS *ctx)
{
	__u64 object = ARGUMENT(ctx, 0);
	struct perf_event___watch *event = (void *)object;
	struct perf_sample_data___watch *data = (void *)ARGUMENT(ctx, 1);
	__u32 callback = WATCH_overflow;
	struct call *call = bpf_map_lookup_elem(&open_calls, &callback);
	__u64 period, last, count;
	struct perf_event_attr attr;
	struct event_record *record;

	if (!call || !is_ours(callback, object))
		return 0;
	call->object = object;
	call->time = bpf_ktime_get_ns();
	bpf_core_read(&attr, sizeof(attr), &event->attr);
	if (!attr.sample_period)
		return 0; /* perf ignores this overflow */
	judge_place(ctx, callback, object, 0);
	period = BPF_CORE_READ(data, period);
	last = BPF_CORE_READ(event, hw.last_period);
	if (period != last)
		breach(LAST_PERIOD, object, callback, 0, last, period);
	/* A driver may drain the records of a precise event after it has stopped. */
	if (!has_state || attr.precise_ip)
		return 0;
	if (state_of(event) & STOPPED)
		breach(OVERFLOW_STOPPED, object, callback, 0, 0, state_of(event));
	judge_reload(event, callback, 0);
	record = record_of(object);
	if (!record)
		return 0;
	if (record->to_stop)
		breach(OVERFLOW_UNSTOPPED, object, callback, 0, 0, 0);
	count = count_of(event);
	if (attr.freq || period != record->period || count < record->last) {
		record->counted = 0;
		record->periods = 0;
		record->period = period;
	} else {
		record->counted += count - record->last;
		record->periods += period;
		/* The interrupt of the first overflow may have been up to a period late. */
		if (record->periods > record->counted + period) {
			breach(OVERFLOW_TOO_OFTEN, object, callback, 0,
			       record->counted, record->periods);
			record->counted = record->periods;
		}
	}
	record->last = count;
	return 0;
}

SEC("kretprobe")
int overflow_returned(REGISTERS *ctx)
{
	__u32 callback = WATCH_overflow;
	struct call *call = bpf_map_lookup_elem(&open_calls, &callback);
	struct event_record *record;
	__u64 object;

	if (!call || !call->object)
		return 0;
	object = call->object;
	call->object = 0;
	__sync_fetch_and_add(&calls[WATCH_overflow].calls, 1);
	record = find_record(object);
	if (record)
		record->to_stop = (int)RESULT(ctx) != 0;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
