/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Records in memory: a change writes them to the buffers of the DS area (record.h). Private. */
#ifndef REFPMU_MODEL_DS_H
#define REFPMU_MODEL_DS_H

#include "commit.h"
#include "settle.h"

enum refpmu_store_result { REFPMU_LOST, REFPMU_STORED, REFPMU_STORED_AT_THRESHOLD };

/* Return true for a device whose records have format 3. */
static inline bool refpmu_has_pebs_format3(const struct refpmu_model *m)
{
	return m->params.pebs_format == 3;
}

/*
 * Begin to fill the buffers. The change must have claimed REFPMU_BLOCK_RECORDING. The commit ends
 * it.
 */
void refpmu_fill_begin(struct refpmu_fill *fill, const struct refpmu_change *c);

/* Write the record of an event with @origin that made @counters (status bits) overflow. */
enum refpmu_store_result refpmu_pebs_store(struct refpmu_fill *fill, const struct refpmu_change *c,
					   const struct refpmu_origin *origin, u64 counters);

/* Write the record of @b. */
enum refpmu_store_result refpmu_bts_store(struct refpmu_fill *fill, const struct refpmu_change *c,
					  const struct refpmu_branch *b);

/* Commit @c and the records of @fill. Return value as of refpmu_change_commit(). */
bool refpmu_fill_commit(struct refpmu_fill *fill, struct refpmu_change *c);

#endif /* REFPMU_MODEL_DS_H */
