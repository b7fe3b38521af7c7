/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The program of `profile`: on each overflow it sends the interrupted task and both stacks. */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "profile_sample.h"

#define STACK_BYTES (PROFILE_MAX_FRAMES * sizeof(__u64))

const volatile __u8 want_kernel = 1;
const volatile __u8 want_user = 1;
const volatile __u64 wakeup_bytes = 0; /* a CPU wakes the reader after this many bytes */

__u64 lost = 0;

/* One ring buffer per CPU: an NMI can find the lock of a shared one taken, and lose its sample. */
struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, PROFILE_MAX_CPUS);
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

struct scratch {
	__u64 unannounced; /* bytes since the reader was woken */
	struct profile_sample sample;
	__u8 stacks[2 * STACK_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

SEC("perf_event")
int profile(struct bpf_perf_event_data *ctx)
{
	const __u32 zero = 0;
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 task = bpf_get_current_pid_tgid();
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	long kernel_bytes = 0;
	long user_bytes = 0;
	__u64 bytes;
	__u64 wake = BPF_RB_NO_WAKEUP;

	if (!scratch)
		return 0;
	if (!ring) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	scratch->sample.time_ns = bpf_ktime_get_ns();
	scratch->sample.period = ctx->sample_period;
	scratch->sample.pid = task >> 32;
	scratch->sample.tid = task;
	scratch->sample.cpu = cpu;
	bpf_get_current_comm(scratch->sample.comm, sizeof(scratch->sample.comm));
	/* Only an interrupt in kernel mode has a kernel stack; other attempts waste time. */
	if (want_kernel && (long)PT_REGS_IP(&ctx->regs) < 0)
		kernel_bytes = bpf_get_stack(ctx, scratch->stacks, STACK_BYTES, 0);
	/* On an error there is no stack: the idle task, for example, has no user stack. */
	if (kernel_bytes < 0 || kernel_bytes > STACK_BYTES)
		kernel_bytes = 0;
	if (want_user)
		user_bytes = bpf_get_stack(ctx, scratch->stacks + kernel_bytes, STACK_BYTES,
					   BPF_F_USER_STACK);
	if (user_bytes < 0 || user_bytes > STACK_BYTES)
		user_bytes = 0;
	scratch->sample.kernel_bytes = kernel_bytes;
	scratch->sample.user_bytes = user_bytes;
	bytes = sizeof(scratch->sample) + kernel_bytes + user_bytes;
	scratch->unannounced += bytes;
	if (scratch->unannounced >= wakeup_bytes) {
		scratch->unannounced = 0;
		wake = BPF_RB_FORCE_WAKEUP;
	}
	if (bpf_ringbuf_output(ring, &scratch->sample, bytes, wake))
		__sync_fetch_and_add(&lost, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
