/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Counts the calls of perf's security hooks for one process, and can deny one of them. */
#include <linux/bpf.h>
#include <linux/errno.h>

#include <bpf/bpf_helpers.h>

enum hook {
	HOOK_OPEN,
	HOOK_ALLOC,
	HOOK_READ,
	HOOK_WRITE,
	HOOK_LOCKED_DOWN,
	HOOKS,
};

__u32 process = 0; /* id of the process to watch */
__u32 refused = HOOKS; /* the hook that denies */
__u64 asked[HOOKS] = {};

static __always_inline int verdict(enum hook hook, int error)
{
	if (bpf_get_current_pid_tgid() >> 32 != process)
		return 0;
	__sync_fetch_and_add(&asked[hook], 1);
	return refused == hook ? error : 0;
}

SEC("lsm/perf_event_open")
int on_open(void *ctx)
{
	return verdict(HOOK_OPEN, -EACCES);
}

SEC("lsm/perf_event_alloc")
int on_alloc(void *ctx)
{
	return verdict(HOOK_ALLOC, -EACCES);
}

SEC("lsm/perf_event_read")
int on_read(void *ctx)
{
	return verdict(HOOK_READ, -EACCES);
}

SEC("lsm/perf_event_write")
int on_write(void *ctx)
{
	return verdict(HOOK_WRITE, -EACCES);
}

/* The lockdown module also returns -EPERM, for any reason. */
SEC("lsm/locked_down")
int on_locked_down(void *ctx)
{
	return verdict(HOOK_LOCKED_DOWN, -EPERM);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
