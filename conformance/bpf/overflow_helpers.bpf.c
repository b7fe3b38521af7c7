/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Programs on overflow that call helpers with side effects: a signal, a tracepoint, a stack. */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

#define MAX_ENTRIES 64

const volatile __u32 signal_number = 0;

__u64 runs = 0;
__s64 result = 0; /* of the newest call */
__u64 stack[MAX_ENTRIES] = {};

SEC("perf_event")
int send_signal(struct bpf_perf_event_data *ctx)
{
	__sync_fetch_and_add(&runs, 1);
	result = bpf_send_signal(signal_number);
	return 1;
}

SEC("perf_event")
int pass_a_tracepoint(struct bpf_perf_event_data *ctx)
{
	static const char text[] = "overflow";

	__sync_fetch_and_add(&runs, 1);
	result = bpf_trace_printk(text, sizeof(text)); /* bpf_trace:bpf_trace_printk */
	return 1;
}

SEC("perf_event")
int take_kernel_stack(struct bpf_perf_event_data *ctx)
{
	__sync_fetch_and_add(&runs, 1);
	result = bpf_get_stack(ctx, stack, sizeof(stack), 0);
	return 1;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
