/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Stores the branch records that the program reads at the newest overflow. */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

#define MAX_WORDS (3 * 64) /* 64 entries of struct perf_branch_entry, 24 bytes each */

__u64 words[MAX_WORDS] = {};
__s64 size = 0; /* bytes, or an error */
__s64 whole_size = 0;
__u64 overflows = 0;

SEC("perf_event")
int on_overflow(struct bpf_perf_event_data *ctx)
{
	__sync_fetch_and_add(&overflows, 1);
	whole_size = bpf_read_branch_records(ctx, NULL, 0, BPF_F_GET_BRANCH_RECORDS_SIZE);
	size = bpf_read_branch_records(ctx, words, sizeof(words), 0);
	return 1;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
