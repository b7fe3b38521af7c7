/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Records breaches of the driver contract. */
#ifndef PMUCONF_TOOLS_WATCH_BPF_BREACH_H_
#define PMUCONF_TOOLS_WATCH_BPF_BREACH_H_

#include "state.h"

/* `place` has the callback in the lower half and its flags in the upper half. */
static __noinline int keep(__u32 kind, __u64 object, __u64 place, __u64 expected, __u64 found)
{
	struct perf_event___watch *event = (void *)object;
	struct watch_seen *first;

	if (kind >= WATCH_BREACH_COUNT)
		return 0;
	first = &seen[kind];
	if (__sync_fetch_and_add(&first->times, 1))
		return 0;
	first->expected = expected;
	first->found = found;
	first->callback = place;
	first->flags = place >> 32;
	first->cpu = bpf_get_smp_processor_id();
	first->pid = bpf_get_current_pid_tgid() >> 32;
	bpf_get_current_comm(first->comm, sizeof(first->comm));
	if (object && object != pmu) {
		first->type = BPF_CORE_READ(event, attr.type);
		first->config = BPF_CORE_READ(event, attr.config);
	}
	return 0;
}

#define breach(kind, object, callback, flags, expected, found)                                     \
	keep(WATCH_BREACH_##kind, object, (__u64)(flags) << 32 | (callback), expected, found)

#endif /* PMUCONF_TOOLS_WATCH_BPF_BREACH_H_ */
