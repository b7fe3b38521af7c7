// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Complete or undo the memory writes of interrupted changes. */
#include "settle.h"

static void finish_indexes(struct refpmu_model *m, struct refpmu_ds *ds)
{
	unsigned int i;

	for (i = 0; i < REFPMU_BUFFERS; i++) {
		u64 *word = refpmu_index_of(ds, i);
		const u64 value = READ_ONCE(*word);
		const u64 head = READ_ONCE(m->head);
		const unsigned int version = refpmu_version_of(head, REFPMU_BLOCK_RECORDING);

		if (!(value & REFPMU_INDEX_MARK))
			continue;
		if ((value & REFPMU_INDEX_MARK) == version + 1) {
			cmpxchg64_local(word, value, m->version[version].recording.next[i]);
			continue;
		}
		/*
		 * The change that set the mark has not been committed. Change the head, so that it
		 * cannot be.
		 */
		cmpxchg64_local(&m->head, head, head + REFPMU_GENERATION);
		cmpxchg64_local(word, value, value & ~REFPMU_INDEX_MARK);
	}
}

void refpmu_finish_all_stores(struct refpmu_model *m)
{
	struct refpmu_fill *fill;

	for (fill = READ_ONCE(m->filling); fill; fill = fill->outer) {
		if (READ_ONCE(fill->word) && READ_ONCE(fill->storing))
			refpmu_settle_word(fill);
		if (READ_ONCE(fill->marked))
			finish_indexes(m, fill->ds);
	}
}
