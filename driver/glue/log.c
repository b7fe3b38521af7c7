// SPDX-License-Identifier: GPL-2.0-only
/* The log of callbacks and register accesses, and the statistics: what a test may ask about. */
#include <linux/slab.h>

#include "refpmu.h"

int refpmu_log_setup(struct refpmu_cpu *cpuc)
{
	cpuc->log = kvcalloc(REFPMU_LOG_ENTRIES, sizeof(*cpuc->log), GFP_KERNEL);
	return cpuc->log ? 0 : -ENOMEM;
}

/* Append an entry to the log of @cpuc, which is this CPU's. Interrupts off. */
void refpmu_log(struct refpmu_cpu *cpuc, enum refpmu_log_kind kind, u32 what, u64 arg, u64 event)
{
	cpuc->log[cpuc->log_next % REFPMU_LOG_ENTRIES] = (struct refpmu_log_entry){
		.kind = kind,
		.what = what,
		.arg = arg,
		.event = event,
		.seq = cpuc->log_next,
	};
	cpuc->log_next++;
}

/* Note that perf entered a callback, in whatever context it did. */
void refpmu_log_call(enum refpmu_call call, const struct perf_event *event, u64 flags)
{
	struct refpmu_cpu *cpuc;
	unsigned long irqs;

	local_irq_save(irqs);
	cpuc = refpmu_this_cpu();
	cpuc->stats.calls[call]++;
	refpmu_log(cpuc, REFPMU_LOG_CALL, call, flags, event ? event->id : 0);
	local_irq_restore(irqs);
}

/* Copy the newest entries, oldest first, at most @capacity; returns how many. Interrupts off. */
u32 refpmu_log_copy(const struct refpmu_cpu *cpuc, struct refpmu_log_entry *to, u32 capacity)
{
	u32 n = min3((u64)capacity, (u64)REFPMU_LOG_ENTRIES, cpuc->log_next);
	u32 i;

	for (i = 0; i < n; i++)
		to[i] = cpuc->log[(cpuc->log_next - n + i) % REFPMU_LOG_ENTRIES];
	return n;
}
