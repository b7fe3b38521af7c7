/* SPDX-License-Identifier: GPL-2.0-only */
/* The journal of one CPU of one PMU: its log of callbacks and register accesses, its statistics. */
#ifndef REFPMU_LOG_H
#define REFPMU_LOG_H

#include <asm/local64.h>

#include "uapi/refpmu.h"

/* Entries of one CPU's log; older ones are overwritten. */
#define REFPMU_LOG_ENTRIES 4096

/*
 * Written on its own CPU alone, by whoever runs there, an NMI included: so by single instructions,
 * without a lock.
 */
struct refpmu_journal {
	local64_t calls[REFPMU_CALL_MAX];
	local64_t pmi;
	local64_t pmi_claimed;
	local64_t overflows;
	struct refpmu_log_entry *entries;
	local64_t next;
};

int refpmu_journal_setup(struct refpmu_journal *journal);
void refpmu_journal_free(struct refpmu_journal *journal);

/* Back to nothing. On the CPU of the journal, interrupts off. */
void refpmu_journal_reset(struct refpmu_journal *journal);

/*
 * Append an entry; @event is the id of an event, or 0. On the CPU of the journal. The place is
 * taken by one instruction: an NMI that comes in between takes the one after.
 */
static inline void refpmu_journal_note(struct refpmu_journal *journal, enum refpmu_log_kind kind,
				       u32 what, u64 arg, u64 event)
{
	const u64 seq = local64_inc_return(&journal->next) - 1;

	journal->entries[seq % REFPMU_LOG_ENTRIES] = (struct refpmu_log_entry){
		.kind = kind,
		.what = what,
		.arg = arg,
		.event = event,
		.seq = seq,
	};
}

/* Note and count that perf entered a callback. On the CPU of the journal. */
static inline void refpmu_journal_call(struct refpmu_journal *journal, enum refpmu_call call,
				       u64 flags, u64 event)
{
	local64_inc(&journal->calls[call]);
	refpmu_journal_note(journal, REFPMU_LOG_CALL, call, flags, event);
}

/* Copy the newest entries, oldest first, at most @capacity; returns how many. Interrupts off. */
u32 refpmu_journal_copy(const struct refpmu_journal *journal, struct refpmu_log_entry *to,
			u32 capacity);

/* Fill in what the journal counts. */
void refpmu_journal_stats(const struct refpmu_journal *journal, struct refpmu_stats *stats);

#endif /* REFPMU_LOG_H */
