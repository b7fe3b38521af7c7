/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Judges a callback at its entry. */
#ifndef PMUCONF_TOOLS_WATCH_BPF_JUDGE_ENTRY_H_
#define PMUCONF_TOOLS_WATCH_BPF_JUDGE_ENTRY_H_

#include "breach.h"

/* perf must call the driver on the event's CPU, with interrupts disabled. */
static __always_inline void judge_place(REGISTERS *ctx, __u32 callback, __u64 object, __u32 flags)
{
	struct perf_event___watch *event = (void *)object;
	__u32 cpu = bpf_get_smp_processor_id();
	__u32 oncpu = BPF_CORE_READ(event, oncpu);

	if (INTERRUPTS_ON(ctx))
		breach(INTERRUPTS_ON, object, callback, flags, 0, 0);
	/* The kernel may read an event of a PMU with a scope on any CPU of the scope. */
	if (callback != WATCH_read && oncpu != cpu)
		breach(WRONG_CPU, object, callback, flags, oncpu, cpu);
}

static __always_inline void judge_entry(REGISTERS *ctx, __u32 callback, struct call *call)
{
	__u64 object = call->object;
	struct event_record *record;
	struct cpu *cpu;

	switch (callback) {
	case WATCH_add:
	case WATCH_del:
		judge_place(ctx, callback, object, call->flags);
		if (disable_count && !depth())
			breach(PMU_ON, object, callback, call->flags, 0, 0);
		break;
	case WATCH_start:
	case WATCH_stop:
	case WATCH_read:
		judge_place(ctx, callback, object, call->flags);
		break;
	case WATCH_start_txn:
		cpu = this_cpu();
		if (!cpu)
			break;
		if (cpu->txn == 2)
			breach(TXN_NESTED, object, callback, call->flags, 0, 0);
		cpu->txn = 2;
		cpu->txn_flags = call->flags;
		cpu->txn_depth = depth();
		break;
	case WATCH_commit_txn:
	case WATCH_cancel_txn:
		cpu = this_cpu();
		if (cpu && cpu->txn == 1)
			breach(TXN_NONE, object, callback, 0, 0, 0);
		break;
	}
	if (!has_state)
		return;
	if (callback == WATCH_start && !(call->flags & ~EF_MASK)) {
		if (!(call->state & STOPPED))
			breach(STARTED_TWICE, object, callback, call->flags, STOPPED, call->state);
		else if ((call->flags & EF_RELOAD) && !(call->state & UPTODATE))
			breach(RELOAD_WITHOUT_UPDATE, object, callback, call->flags,
			       STOPPED | UPTODATE, call->state);
		record = find_record(object);
		if (record)
			record->to_stop = 0;
	}
	if (callback == WATCH_add) {
		record = find_record(object);
		if (record && record->gone && call->count > record->left)
			breach(LATE_COUNT, object, callback, call->flags, record->left, call->count);
		if (record)
			record->to_stop = 0;
	}
}

#endif /* PMUCONF_TOOLS_WATCH_BPF_JUDGE_ENTRY_H_ */
