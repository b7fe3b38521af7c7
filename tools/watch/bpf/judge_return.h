/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Judges a callback at its return. */
#ifndef PMUCONF_TOOLS_WATCH_BPF_JUDGE_RETURN_H_
#define PMUCONF_TOOLS_WATCH_BPF_JUDGE_RETURN_H_

#include "judge_reload.h"

static __always_inline void judge_add(struct call *call, int result)
{
	struct perf_event___watch *event = (void *)call->object;
	struct cpu *cpu = this_cpu();
	int state = state_of(event);
	int idx = BPF_CORE_READ(event, hw.idx);

	if (result) {
		if (state != call->state && !(state & STOPPED))
			breach(FAILED_ADD_STATE, call->object, WATCH_add, call->flags,
			       call->state, state);
		if (idx != call->idx)
			breach(FAILED_ADD_INDEX, call->object, WATCH_add, call->flags,
			       call->idx, idx);
		return;
	}
	if (!(call->flags & EF_START)) {
		if (state != (STOPPED | UPTODATE))
			breach(ADD_RUNNING, call->object, WATCH_add, call->flags,
			       STOPPED | UPTODATE, state);
	} else if (cpu) {
		cpu->added = call->object;
		if (!sees_enable)
			judge_added(WATCH_add);
	}
}

static __always_inline void judge_del(struct call *call)
{
	struct perf_event___watch *event = (void *)call->object;
	struct event_record *record = record_of(call->object);
	struct cpu *cpu = this_cpu();
	struct perf_event_attr attr;
	int state = state_of(event);

	if (state != (STOPPED | UPTODATE))
		breach(DEL_STATE, call->object, WATCH_del, call->flags, STOPPED | UPTODATE, state);
	if (cpu && cpu->added == call->object)
		cpu->added = 0;
	if (!record)
		return;
	bpf_core_read(&attr, sizeof(attr), &event->attr);
	record->left = count_of(event);
	/* perf may swap the counts of inherited events at a context switch (inherit_stat). */
	record->gone = !attr.inherit;
	record->to_stop = 0;
}

static __always_inline void judge_start(struct call *call)
{
	struct perf_event___watch *event = (void *)call->object;
	int state = state_of(event);

	if (call->flags & ~EF_MASK)
		return;
	if (state)
		breach(START_STOPPED, call->object, WATCH_start, call->flags, 0, state);
	else if (call->flags & EF_RELOAD)
		judge_reload(event, WATCH_start, call->flags);
}

static __always_inline void judge_stop(struct call *call)
{
	int state = state_of((struct perf_event___watch *)call->object);

	if (call->flags & ~EF_MASK)
		return;
	if (!(state & STOPPED))
		breach(STOP_RUNNING, call->object, WATCH_stop, call->flags, STOPPED, state);
	else if ((call->flags & EF_UPDATE) && !(state & UPTODATE))
		breach(STOP_STALE, call->object, WATCH_stop, call->flags,
		       STOPPED | UPTODATE, state);
}

/* read, stop and del may only add to the count, and only the events since the last fold. */
static __always_inline void judge_count(__u32 callback, struct call *call)
{
	struct perf_event___watch *event = (void *)call->object;
	__u64 counted = count_of(event) - call->count;
	__u64 period = BPF_CORE_READ(event, hw.sample_period);
	struct perf_event_attr attr;

	if ((__s64)counted < 0)
		breach(COUNT_DOWN, call->object, callback, call->flags, call->count,
		       call->count + counted);
	else if (has_state && call->state == (STOPPED | UPTODATE) && counted)
		breach(COUNTED_STOPPED, call->object, callback, call->flags, call->count,
		       call->count + counted);
	bpf_core_read(&attr, sizeof(attr), &event->attr);
	if (!interrupts || !has_state || attr.precise_ip || !attr.sample_period || !period)
		return;
	/* An NMI during the call may have started the next period. */
	if (counted % period && left_of(event) == call->left)
		breach(PERIOD_LEFT_STUCK, call->object, callback, call->flags,
		       call->left - counted, call->left);
}

static __always_inline void judge_transaction(__u32 callback, struct call *call, int result)
{
	struct cpu *cpu = this_cpu();
	int now = depth();

	/* The transaction stays open if the commit fails. */
	if (!cpu || (callback == WATCH_commit_txn && result))
		return;
	if (cpu->txn == 2 && now != cpu->txn_depth)
		breach(TXN_BALANCE, call->object, callback, cpu->txn_flags, cpu->txn_depth, now);
	cpu->txn = 1;
}

static __always_inline void judge_init(struct call *call, int result)
{
	struct perf_event___watch *event = (void *)call->object;
	__u32 type = BPF_CORE_READ(event, attr.type);

	if (result > 0)
		breach(INIT_POSITIVE, call->object, WATCH_event_init, 0, 0, result);
	/* Several PMUs share the types below PERF_TYPE_MAX. */
	if (type >= PERF_TYPE_MAX && type != pmu_type && result != -ENOENT)
		breach(INIT_FOREIGN, call->object, WATCH_event_init, 0, ENOENT, -result);
	if (result < 0 && BPF_CORE_READ(event, destroy))
		breach(INIT_DESTROY, call->object, WATCH_event_init, 0, 0, -result);
}

static __always_inline void judge_return(__u32 callback, struct call *call, int result)
{
	switch (callback) {
	case WATCH_event_init:
		judge_init(call, result);
		return;
	case WATCH_commit_txn:
	case WATCH_cancel_txn:
		judge_transaction(callback, call, result);
		return;
	case WATCH_read:
	case WATCH_stop:
	case WATCH_del:
		judge_count(callback, call);
	}
	if (!has_state)
		return;
	switch (callback) {
	case WATCH_pmu_enable:
		judge_added(callback);
		break;
	case WATCH_add:
		judge_add(call, result);
		break;
	case WATCH_del:
		judge_del(call);
		break;
	case WATCH_start:
		judge_start(call);
		break;
	case WATCH_stop:
		judge_stop(call);
		break;
	}
}

#endif /* PMUCONF_TOOLS_WATCH_BPF_JUDGE_RETURN_H_ */
