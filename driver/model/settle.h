/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Memory writes of interrupted changes: the state that a change publishes about its writes (ds.h),
 * and how an access that interrupts the change completes or undoes them. Private to the model.
 */
#ifndef REFPMU_MODEL_SETTLE_H
#define REFPMU_MODEL_SETTLE_H

#include "model.h"

enum refpmu_buffer { REFPMU_BUFFER_BTS, REFPMU_BUFFER_PEBS, REFPMU_BUFFERS };

/* Low bits of an index: 1 + the version that is about to move it. */
#define REFPMU_INDEX_MARK 7ULL

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

/* Return the index of @buffer (enum refpmu_buffer) in the DS area. */
static inline u64 *refpmu_index_of(struct refpmu_ds *ds, unsigned int buffer)
{
	return buffer == REFPMU_BUFFER_BTS ? &ds->bts_index : &ds->pebs_index;
}

/*
 * Store the word of @fill. Repeat that if an interrupting change has replaced the value meanwhile.
 */
static inline void refpmu_settle_word(struct refpmu_fill *fill)
{
	u64 *word = READ_ONCE(fill->word);
	u64 value;

	do {
		value = READ_ONCE(fill->value);
		WRITE_ONCE(*word, value);
	} while (READ_ONCE(fill->value) != value);
}

/* Complete the memory writes of interrupted changes. Each access to the model calls this first. */
void refpmu_finish_all_stores(struct refpmu_model *m);

static inline void refpmu_finish_stores(struct refpmu_model *m)
{
	if (READ_ONCE(m->filling))
		refpmu_finish_all_stores(m);
}

#endif /* REFPMU_MODEL_SETTLE_H */
