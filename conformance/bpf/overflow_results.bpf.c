/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Calls helpers with flags and sizes that the case sets, and stores their results. */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

#define ROOM 64 /* bytes */

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u32);
} events SEC(".maps");

const volatile __u32 value_size = sizeof(struct bpf_perf_event_value);

__u64 flags = 0;
__u64 output_size = 0;
__s64 result = 0; /* of the newest call */
__u64 value[ROOM / 8] = {};
__u8 output[ROOM] = {};

SEC("perf_event")
int read_value(struct bpf_perf_event_data *ctx)
{
	result = bpf_perf_event_read_value(&events, flags, (void *)value, value_size);
	return 1;
}

SEC("perf_event")
int read_plain(struct bpf_perf_event_data *ctx)
{
	result = bpf_perf_event_read(&events, flags);
	return 1;
}

SEC("perf_event")
int read_own_value(struct bpf_perf_event_data *ctx)
{
	result = bpf_perf_prog_read_value(ctx, (void *)value, value_size);
	return 1;
}

SEC("perf_event")
int write_output(struct bpf_perf_event_data *ctx)
{
	__u64 size = output_size;

	if (size <= ROOM)
		result = bpf_perf_event_output(ctx, &events, flags, output, size);
	return 1;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
