/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Counts its runs and sums up the sample periods in its context. */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

__u64 overflows = 0;
__u64 period_sum = 0;

SEC("perf_event")
int on_overflow(struct bpf_perf_event_data *ctx)
{
	__sync_fetch_and_add(&overflows, 1);
	__sync_fetch_and_add(&period_sum, ctx->sample_period);
	return 1;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
