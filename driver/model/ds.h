/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Records in memory: what a change writes to the buffers of the DS area (record.h). Private. */
#ifndef REFPMU_MODEL_DS_H
#define REFPMU_MODEL_DS_H

#include "commit.h"

enum refpmu_buffer { REFPMU_BUFFER_BTS, REFPMU_BUFFER_PEBS, REFPMU_BUFFERS };

/*
 * The DS area, and how far a change has filled its buffers.
 *
 * A store to memory cannot be made to depend on the head. So a change that is interrupted between
 * its last look at the head and the store may store to where what interrupted it has put a record.
 * Each therefore tells the word that it is about to store to (@word) before that look; who stores
 * there in an interrupt tells it what the word is to be (@value), and the change stores until that
 * is what it has stored. Whoever interrupts it before does so for it.
 */
struct refpmu_fill {
	struct refpmu_ds *ds; /* NULL: there is none, and all is lost */
	u64 old[REFPMU_BUFFERS]; /* indexes in memory */
	u64 index[REFPMU_BUFFERS]; /* as they will be */
	struct refpmu_fill *outer; /* that this one interrupts */
	u64 *word;
	u64 value;
	bool storing; /* the look at the head was fine */
	bool marked; /* so may be indexes */
};

enum refpmu_fate { REFPMU_LOST, REFPMU_STORED, REFPMU_STORED_AT_THRESHOLD };

/* Records are of format 3. */
static inline bool refpmu_records_are_whole(const struct refpmu_model *m)
{
	return m->params.pebs_format == 3;
}

/* Begin to fill, for a change that has claimed REFPMU_BLOCK_RECORDING; ends with the commit. */
void refpmu_fill_begin(struct refpmu_fill *fill, const struct refpmu_change *c);

/* Write the record of an event at @origin that made @counters (status bits) overflow. */
enum refpmu_fate refpmu_pebs_store(struct refpmu_fill *fill, const struct refpmu_change *c,
				   const struct refpmu_origin *origin, u64 counters);

/* Write the record of @b. */
enum refpmu_fate refpmu_bts_store(struct refpmu_fill *fill, const struct refpmu_change *c,
				  const struct refpmu_branch *b);

/*
 * Commit @c, and with it what @fill holds; false as refpmu_change_commit().
 */
bool refpmu_fill_commit(struct refpmu_fill *fill, struct refpmu_change *c);

/* End in memory what was interrupted. Each access to the model begins with it. */
void refpmu_settle_fills(struct refpmu_model *m);

static inline void refpmu_settle(struct refpmu_model *m)
{
	if (READ_ONCE(m->filling))
		refpmu_settle_fills(m);
}

#endif /* REFPMU_MODEL_DS_H */
