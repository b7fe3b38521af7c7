/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Programs on a tracepoint: they count runs, store their context, and may suppress the sample. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

/* The record of every sys_enter tracepoint. The kernel does not set the padding. */
struct sys_enter {
	__u64 common;
	__s32 number;
	__s32 padding;
	__u64 args[6];
};

__u64 runs = 0;
__s32 number = 0;
__u64 argument = 0;
__u64 order = 0; /* one digit per program that ran, the newest last */

SEC("tracepoint")
int keep_argument(struct sys_enter *ctx)
{
	__sync_fetch_and_add(&runs, 1);
	number = ctx->number;
	argument = ctx->args[0];
	return 1;
}

SEC("tracepoint")
int first(void *ctx)
{
	order = order * 10 + 1;
	return 1;
}

SEC("tracepoint")
int second(void *ctx)
{
	order = order * 10 + 2;
	return 1;
}

SEC("tracepoint")
int third(void *ctx)
{
	order = order * 10 + 3;
	return 1;
}

SEC("tracepoint")
int drop(void *ctx)
{
	__sync_fetch_and_add(&runs, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
