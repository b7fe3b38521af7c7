/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The state of the device, in blocks that exist in several versions: one is current, the others are
 * free or being prepared. Private to the model; commit.h tells how a version becomes current.
 */
#ifndef REFPMU_MODEL_VERSION_H
#define REFPMU_MODEL_VERSION_H

#include "record.h"
#include "registers.h"

/* The current one, and one for each context that nests: task, softirq, interrupt, NMI, one more. */
#define REFPMU_VERSIONS 6

/* Branch records that are on the stack, and one spare for each version. */
#define REFPMU_LBR_ENTRIES (REFPMU_MAX_LBR + REFPMU_VERSIONS)

/* Blocks are of 64-bit words alone, and copied word by word up to what the device has of them. */
struct refpmu_global {
	u64 ctrl;
	u64 status;
	u64 asserted; /* status bits that hold the line up */
	u64 ticks; /* clock since reset: phase of the divided events */
};

struct refpmu_select {
	u64 fixed_ctrl;
	u64 evtsel[REFPMU_MAX_GENERAL];
};

struct refpmu_count {
	u64 deaf; /* counters, as in the global registers, whose next overflow is not noticed */
	u64 value[REFPMU_MAX_GENERAL + REFPMU_MAX_FIXED]; /* no gap before the fixed ones */
};

struct refpmu_recording {
	u64 offcore_rsp[2];
	u64 ld_lat;
	u64 pebs_enable;
	u64 pebs_data_cfg;
	u64 ds_area;
	u64 debugctl;
	u64 next[2]; /* where this version puts the indexes of the DS area: BTS, PEBS */
};

struct refpmu_stack {
	u64 select;
	u64 tos;
	u64 valid; /* bit i: entry i holds something; else it reads as 0 */
	/* Bytes: the entry of the model that is register i; then, the spare of version i */
	u64 map[(REFPMU_LBR_ENTRIES + 7) / 8];
};

struct refpmu_version {
	struct refpmu_global global;
	struct refpmu_select select;
	struct refpmu_count count;
	struct refpmu_recording recording;
	struct refpmu_stack stack;
};

/* In m->head they have four bits each, in m->claims eight. */
enum refpmu_block {
	REFPMU_BLOCK_GLOBAL,
	REFPMU_BLOCK_SELECT,
	REFPMU_BLOCK_COUNT,
	REFPMU_BLOCK_RECORDING,
	REFPMU_BLOCK_STACK,
	REFPMU_BLOCKS,
};

/* Number of @member among the words of its block, which is a struct refpmu_@block. */
#define REFPMU_WORD(block, member) ((unsigned int)(offsetof(struct refpmu_##block, member) / 8))

/* The words of @block. */
static inline u64 *refpmu_block_words(struct refpmu_version *version, enum refpmu_block block)
{
	/* In the order of the blocks; C++ knows no array designators. */
	static const u8 first[REFPMU_BLOCKS] = {
		REFPMU_WORD(version, global), REFPMU_WORD(version, select),
		REFPMU_WORD(version, count),  REFPMU_WORD(version, recording),
		REFPMU_WORD(version, stack),
	};

	return (u64 *)version + first[block];
}

#endif /* REFPMU_MODEL_VERSION_H */
