/* SPDX-License-Identifier: GPL-2.0-only */
/* The journal of one CPU of one PMU: a log of callbacks and register accesses, and statistics. */
#ifndef REFPMU_LOG_H
#define REFPMU_LOG_H

#include <asm/local64.h>

#include "uapi/refpmu.h"

/* Entries of the log of one CPU. When it is full, new entries overwrite the oldest ones. */
#define REFPMU_LOG_ENTRIES 4096

/*
 * Only code on the journal's own CPU writes to it, in any context including NMI. Each write is a
 * single instruction, so no lock is needed.
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

/* Clear the journal. On its own CPU, interrupts off. */
void refpmu_journal_reset(struct refpmu_journal *journal);

/*
 * Append an entry; @event is the id of an event, or 0. On the journal's own CPU. A single
 * instruction reserves the entry, so an NMI in between uses the next one.
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

/* Log and count a call of a callback. On the journal's own CPU. */
static inline void refpmu_journal_call(struct refpmu_journal *journal, enum refpmu_call call,
				       u64 flags, u64 event)
{
	local64_inc(&journal->calls[call]);
	refpmu_journal_note(journal, REFPMU_LOG_CALL, call, flags, event);
}

/*
 * Copy the newest entries, at most @capacity, oldest first. Return the number of entries.
 * Interrupts off.
 */
u32 refpmu_journal_copy(const struct refpmu_journal *journal, struct refpmu_log_entry *to,
			u32 capacity);

/* Fill in the statistics that the journal has. */
void refpmu_journal_stats(const struct refpmu_journal *journal, struct refpmu_stats *stats);

#endif /* REFPMU_LOG_H */
