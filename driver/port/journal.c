// SPDX-License-Identifier: GPL-2.0-only
/* The journal: a log of callbacks and register accesses, and statistics, which tests read. */
#include <linux/slab.h>
#include <linux/string.h>

#include "journal.h"

int refpmu_journal_setup(struct refpmu_journal *journal)
{
	journal->entries = kvcalloc(REFPMU_LOG_ENTRIES, sizeof(*journal->entries), GFP_KERNEL);
	return journal->entries ? 0 : -ENOMEM;
}

void refpmu_journal_free(struct refpmu_journal *journal)
{
	kvfree(journal->entries);
	journal->entries = NULL;
}

void refpmu_journal_reset(struct refpmu_journal *journal)
{
	unsigned int i;

	for (i = 0; i < REFPMU_CALL_MAX; i++)
		local64_set(&journal->calls[i], 0);
	local64_set(&journal->pmi, 0);
	local64_set(&journal->pmi_claimed, 0);
	local64_set(&journal->overflows, 0);
	local64_set(&journal->next, 0);
}

/* Entries that an NMI overwrote during the copy are dropped. These are the oldest ones. */
u32 refpmu_journal_copy(const struct refpmu_journal *journal, struct refpmu_log_entry *to,
			u32 capacity)
{
	const u64 end = local64_read(&journal->next);
	const u32 n = min3((u64)capacity, (u64)REFPMU_LOG_ENTRIES, end);
	u64 lost;
	u32 i;

	for (i = 0; i < n; i++)
		to[i] = journal->entries[(end - n + i) % REFPMU_LOG_ENTRIES];
	barrier();
	lost = n + local64_read(&journal->next) - end;
	if (lost <= REFPMU_LOG_ENTRIES)
		return n;
	lost = min_t(u64, lost - REFPMU_LOG_ENTRIES, n);
	memmove(to, to + lost, (n - lost) * sizeof(*to));
	return n - lost;
}

void refpmu_journal_stats(const struct refpmu_journal *journal, struct refpmu_stats *stats)
{
	unsigned int i;

	for (i = 0; i < REFPMU_CALL_MAX; i++)
		stats->calls[i] = local64_read(&journal->calls[i]);
	stats->pmi = local64_read(&journal->pmi);
	stats->pmi_claimed = local64_read(&journal->pmi_claimed);
	stats->overflows = local64_read(&journal->overflows);
}
