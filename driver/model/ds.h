/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Records in memory: a change writes them to the buffers of the DS area (record.h). Private. */
#ifndef REFPMU_MODEL_DS_H
#define REFPMU_MODEL_DS_H

#include "commit.h"

enum refpmu_buffer { REFPMU_BUFFER_BTS, REFPMU_BUFFER_PEBS, REFPMU_BUFFERS };

/*
 * The DS area, and the positions up to which a change has filled its buffers.
 *
 * A store to memory cannot be conditional on the head. A change can be interrupted between its last
 * check of the head and a store, and the store would then overwrite a record of the interrupting
 * change. Therefore a change publishes the address of the store (@word) before it checks the head.
 * An interrupting change that stores to the same address publishes its own value there (@value).
 * The interrupted change repeats its store until it has stored the published value. An access that
 * interrupts it before that does this on its behalf.
 */
struct refpmu_fill {
	struct refpmu_ds *ds; /* NULL: no DS area exists, and all records are lost */
	u64 old[REFPMU_BUFFERS]; /* current indexes in memory */
	u64 index[REFPMU_BUFFERS]; /* indexes after the commit */
	struct refpmu_fill *outer; /* fill of the change that this one interrupts */
	u64 *word;
	u64 value;
	bool storing; /* the head was unchanged, so the store may happen */
	bool marked; /* indexes in memory may have a mark */
};

enum refpmu_fate { REFPMU_LOST, REFPMU_STORED, REFPMU_STORED_AT_THRESHOLD };

/* Return true for a device whose records have format 3. */
static inline bool refpmu_records_are_whole(const struct refpmu_model *m)
{
	return m->params.pebs_format == 3;
}

/*
 * Begin to fill the buffers. The change must have claimed REFPMU_BLOCK_RECORDING. The commit ends
 * it.
 */
void refpmu_fill_begin(struct refpmu_fill *fill, const struct refpmu_change *c);

/* Write the record of an event with @origin that made @counters (status bits) overflow. */
enum refpmu_fate refpmu_pebs_store(struct refpmu_fill *fill, const struct refpmu_change *c,
				   const struct refpmu_origin *origin, u64 counters);

/* Write the record of @b. */
enum refpmu_fate refpmu_bts_store(struct refpmu_fill *fill, const struct refpmu_change *c,
				  const struct refpmu_branch *b);

/* Commit @c and the records of @fill. Return value as of refpmu_change_commit(). */
bool refpmu_fill_commit(struct refpmu_fill *fill, struct refpmu_change *c);

/* Complete the memory writes of interrupted changes. Each access to the model calls this first. */
void refpmu_settle_fills(struct refpmu_model *m);

static inline void refpmu_settle(struct refpmu_model *m)
{
	if (READ_ONCE(m->filling))
		refpmu_settle_fills(m);
}

#endif /* REFPMU_MODEL_DS_H */
