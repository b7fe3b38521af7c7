/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Stores the context of each overflow that a profiler records: address, task and CPU. */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define CPUS 64

__u64 runs = 0;
__u64 runs_on[CPUS] = {};
__u64 ip = 0; /* of the newest overflow; so are the variables below */
__u64 pid_tgid = 0;
char comm[16] = {};

SEC("perf_event")
int on_overflow(struct bpf_perf_event_data *ctx)
{
	__sync_fetch_and_add(&runs, 1);
	__sync_fetch_and_add(&runs_on[bpf_get_smp_processor_id() % CPUS], 1);
	ip = PT_REGS_IP(&ctx->regs);
	pid_tgid = bpf_get_current_pid_tgid();
	bpf_get_current_comm(comm, sizeof(comm));
	return 1;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
