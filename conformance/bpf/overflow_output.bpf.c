/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Sends each overflow through a perf buffer, with stacks and the count of another event. */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u32);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} other SEC(".maps");

__u64 number = 0;
__s64 output_errors = 0;
__s64 other_error = 0;
struct bpf_perf_event_value other_value = {};
__s64 kernel_stack_bytes = 0;
__s64 user_stack_bytes = 0;
__u64 stack[32] = {};

SEC("perf_event")
int on_overflow(struct bpf_perf_event_data *ctx)
{
	__u64 record[2];

	record[0] = ++number;
	record[1] = ctx->addr;
	if (bpf_perf_event_output(ctx, &records, BPF_F_CURRENT_CPU, record, sizeof(record)))
		output_errors++;
	return 1;
}

SEC("perf_event")
int read_other(struct bpf_perf_event_data *ctx)
{
	other_error = bpf_perf_event_read_value(&other, 0, &other_value, sizeof(other_value));
	return 1;
}

SEC("perf_event")
int take_stacks(struct bpf_perf_event_data *ctx)
{
	kernel_stack_bytes = bpf_get_stack(ctx, stack, sizeof(stack), 0);
	user_stack_bytes = bpf_get_stack(ctx, stack, sizeof(stack), BPF_F_USER_STACK);
	return 1;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
