/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Decode the records that the device writes to memory, without trusting that memory. */
#ifndef REFPMU_CORE_RECORD_H
#define REFPMU_CORE_RECORD_H

#include "../model/record.h"
#include "refpmu_port.h"

/* One decoded precise record. Fields that the record does not have are 0. */
struct refpmu_record {
	u64 ip; /* address of the instruction that caused the event */
	u64 counters; /* counters that overflowed, as in GLOBAL_STATUS */
	u64 time;
	bool has_memory;
	bool has_gprs;
	struct refpmu_pebs_memory memory;
	struct refpmu_pebs_gprs gprs;
	unsigned int n_lbr;
	const struct refpmu_pebs_lbr *lbr; /* @n_lbr entries in the buffer, newest first; or NULL */
};

/* One decoded record of a branch trace. */
struct refpmu_record_branch {
	u64 from;
	u64 to;
	bool predicted;
};

/**
 * refpmu_record_filled() - Calculate how much of a record buffer is filled.
 * @base: Address of the buffer.
 * @size: Size of the buffer in bytes.
 * @index: Address of the next record. It may come from memory and is not trusted.
 *
 * Return: The filled bytes, in whole words; 0 if @index is outside of the buffer.
 */
u64 refpmu_record_filled(u64 base, u64 size, u64 index);

/**
 * refpmu_record_size() - Calculate the size of a precise record.
 * @data_cfg: The value of PEBS_DATA_CFG with which the device wrote the record.
 *
 * Return: The size in bytes; 0 if the layout is unknown.
 */
u64 refpmu_record_size(u64 data_cfg);

/**
 * refpmu_record_next() - Decode the next precise record of a buffer.
 * @words: The buffer.
 * @size: Size of the buffer in bytes.
 * @offset: Offset of the record; moved past the record on success.
 * @record: The decoded record; written only on success.
 *
 * The function never reads outside of the buffer, and reads each word once. It checks that the
 * branch entries behind @record->lbr are inside the buffer, but not their contents.
 *
 * Return: 1; 0 at the end of the buffer; -EINVAL if no complete record with a known layout and the
 * right size follows. After -EINVAL the rest of the buffer cannot be decoded.
 */
int refpmu_record_next(const u64 *words, u64 size, u64 *offset, struct refpmu_record *record);

/**
 * refpmu_record_next_branch() - Decode the next record of a branch trace.
 * @words: The buffer.
 * @size: Size of the buffer in bytes.
 * @offset: Offset of the record; moved past the record on success.
 * @branch: The decoded record; written only on success.
 *
 * Return: 1; 0 at the end of the buffer; -EINVAL if no complete record follows.
 */
int refpmu_record_next_branch(const u64 *words, u64 size, u64 *offset,
			      struct refpmu_record_branch *branch);

#endif /* REFPMU_CORE_RECORD_H */
