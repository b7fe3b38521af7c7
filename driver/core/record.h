/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* What the records that the device leaves in memory say; memory is never taken at its word. */
#ifndef REFPMU_CORE_RECORD_H
#define REFPMU_CORE_RECORD_H

#include "../model/record.h"
#include "refpmu_port.h"

/* One precise record. What it has not is 0. */
struct refpmu_record {
	u64 ip; /* of the instruction that made the event happen */
	u64 counters; /* that it belongs to, as in GLOBAL_STATUS */
	u64 time;
	bool has_memory;
	bool has_gprs;
	struct refpmu_pebs_memory memory;
	struct refpmu_pebs_gprs gprs;
	unsigned int n_lbr;
	const struct refpmu_pebs_lbr *lbr; /* @n_lbr entries in the buffer, newest first; or NULL */
};

/* One record of a branch trace. */
struct refpmu_record_branch {
	u64 from;
	u64 to;
	bool predicted;
};

/*
 * Bytes of the buffer at @base, of @size bytes, that are filled if the next record goes to @index,
 * which may come from memory: 0 if it is not in the buffer. Records are whole words, so is this.
 */
u64 refpmu_record_filled(u64 base, u64 size, u64 index);

/* Bytes of a record with @data_cfg, a value of PEBS_DATA_CFG; 0 if its layout is not known. */
u64 refpmu_record_size(u64 data_cfg);

/*
 * Decode the precise record that is at @offset of the @size bytes in @words, and move @offset past
 * it. Returns 1; or 0 at the end of the buffer; or -EINVAL if there is no whole record of a known
 * layout that says its right size, which leaves nothing to go on with. @record and @offset are
 * written only with 1. Nothing outside of the buffer is read. Each word is read once; the entries
 * behind @record->lbr are checked for being there, and nothing else.
 */
int refpmu_record_next(const u64 *words, u64 size, u64 *offset, struct refpmu_record *record);

/* The same for the records of a branch trace, of which all are alike. */
int refpmu_record_next_branch(const u64 *words, u64 size, u64 *offset,
			      struct refpmu_record_branch *branch);

#endif /* REFPMU_CORE_RECORD_H */
