/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Reads the stack of an overflow twice: completely, and with the flags and size of the case. */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

#define ENTRIES 32

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, ENTRIES * sizeof(__u64));
} stacks SEC(".maps");

const volatile __u32 part_size = ENTRIES * sizeof(__u64);

__u64 flags = 0;
__s64 whole_size = 0; /* bytes, or an error */
__s64 part_result = 0;
__s64 id = 0; /* stack id, or an error */
__u64 whole[ENTRIES] = {};
__u64 part[ENTRIES] = {};

SEC("perf_event")
int take_part(struct bpf_perf_event_data *ctx)
{
	whole_size = bpf_get_stack(ctx, whole, sizeof(whole), flags & BPF_F_USER_STACK);
	part_result = bpf_get_stack(ctx, part, part_size, flags);
	return 1;
}

SEC("perf_event")
int take_id(struct bpf_perf_event_data *ctx)
{
	whole_size = bpf_get_stack(ctx, whole, sizeof(whole), flags & BPF_F_USER_STACK);
	id = bpf_get_stackid(ctx, &stacks, flags);
	return 1;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
