/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Judges how an event that was started programmed its counter. */
#ifndef PMUCONF_TOOLS_WATCH_BPF_JUDGE_RELOAD_H_
#define PMUCONF_TOOLS_WATCH_BPF_JUDGE_RELOAD_H_

#include "breach.h"

/* judge_program() checks only periods in this range, and accepts a difference of OFF events. */
#define LEAST_PERIOD 512
#define MOST_PERIOD (1 << 20)
#define OFF 128

/*
 * A counter counts period_left events from prev_count to 0, and a read moves both by the same
 * amount. The check accepts small differences and skips long periods, because hardware may round a
 * period, and cannot program one that exceeds its counter.
 */
static __always_inline void judge_program(struct perf_event___watch *event, __u32 callback,
					  __u32 flags, __s64 left)
{
	__u64 prev = 0;
	__s32 off;

	bpf_core_read(&prev, sizeof(prev), &event->hw.prev_count);
	off = (__s32)(-(__u32)prev - (__u32)left);
	if (left >= LEAST_PERIOD && left < MOST_PERIOD && (off < -OFF || off > OFF))
		breach(NOT_PROGRAMMED, (__u64)event, callback, flags, left, -(__u32)prev);
}

static __always_inline void judge_reload(struct perf_event___watch *event, __u32 callback,
					 __u32 flags)
{
	__u64 period = BPF_CORE_READ(event, hw.sample_period);
	__s64 left = left_of(event);
	struct perf_event_attr attr;

	bpf_core_read(&attr, sizeof(attr), &event->attr);
	/* In frequency mode perf changes the period while one is in progress. */
	if (!interrupts || !attr.sample_period || attr.freq)
		return;
	if (left <= 0 || (__u64)left > period)
		breach(PERIOD_LEFT, (__u64)event, callback, flags, period, left);
	if (!attr.precise_ip)
		judge_program(event, callback, flags, left);
}

/* The event of the last add must run when the PMU is enabled. */
static __always_inline void judge_added(__u32 callback)
{
	struct cpu *cpu = this_cpu();
	struct perf_event___watch *event;
	int state;

	if (!cpu || !cpu->added)
		return;
	event = (void *)cpu->added;
	cpu->added = 0;
	if ((__u64)BPF_CORE_READ(event, pmu) != pmu)
		return;
	state = state_of(event);
	if (state)
		breach(ADD_NOT_RUNNING, (__u64)event, callback, 0, 0, state);
	else
		judge_reload(event, callback, 0);
}

#endif /* PMUCONF_TOOLS_WATCH_BPF_JUDGE_RELOAD_H_ */
