/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Records in memory: what a change writes to the buffers of the DS area (record.h). Private. */
#ifndef REFPMU_MODEL_DS_H
#define REFPMU_MODEL_DS_H

#include "commit.h"

enum refpmu_buffer { REFPMU_BUFFER_BTS, REFPMU_BUFFER_PEBS, REFPMU_BUFFERS };

/* The DS area, and how far a change has filled its buffers. */
struct refpmu_fill {
	struct refpmu_ds *ds; /* NULL: there is none, and all is lost */
	u64 old[REFPMU_BUFFERS]; /* indexes in memory */
	u64 index[REFPMU_BUFFERS]; /* as they will be */
};

enum refpmu_fate { REFPMU_LOST, REFPMU_STORED, REFPMU_STORED_AT_THRESHOLD };

void refpmu_fill_begin(struct refpmu_fill *fill, const struct refpmu_change *c);

/* Write the record of an event at @origin that made @counters (status bits) overflow. */
enum refpmu_fate refpmu_pebs_store(struct refpmu_fill *fill, const struct refpmu_change *c,
				   const struct refpmu_origin *origin, u64 counters);

/* Write the record of @b. */
enum refpmu_fate refpmu_bts_store(struct refpmu_fill *fill, const struct refpmu_change *c,
				  const struct refpmu_branch *b);

/*
 * Commit @c, and with it what @fill holds; false as refpmu_change_commit(). A change that stored
 * anything has claimed REFPMU_BLOCK_RECORDING.
 */
bool refpmu_fill_commit(struct refpmu_fill *fill, struct refpmu_change *c);

/* End what an interrupted commit has begun. Each access to the model begins with it. */
void refpmu_settle_marked(struct refpmu_model *m);

static inline void refpmu_settle(struct refpmu_model *m)
{
	if (READ_ONCE(m->marked))
		refpmu_settle_marked(m);
}

#endif /* REFPMU_MODEL_DS_H */
