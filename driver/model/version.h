/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The state of the device, in blocks that each have several versions: one is current, the others
 * are free or in preparation. Private to the model; commit.h describes how a version becomes
 * current.
 */
#ifndef REFPMU_MODEL_VERSION_H
#define REFPMU_MODEL_VERSION_H

#include "record.h"
#include "registers.h"

/*
 * The current version, and one for each context that nests: task, softirq, interrupt, NMI, spare.
 */
#define REFPMU_VERSIONS 6

/* Entries of the branch record stack, and a spare one for each version. */
#define REFPMU_LBR_ENTRIES (REFPMU_MAX_LBR + REFPMU_VERSIONS)

/*
 * A block consists of 64-bit words only. It is copied word by word, as far as the device has them.
 */
struct refpmu_global {
	u64 ctrl;
	u64 status;
	u64 asserted; /* status bits that assert the line */
	u64 ticks; /* ticks since reset: phase of the events with a clock divider */
};

struct refpmu_select {
	u64 fixed_ctrl;
	u64 evtsel[REFPMU_MAX_GENERAL];
};

struct refpmu_count {
	u64 muted; /* counters, as in the global registers, whose next overflow has no effect */
	/* general counters, then fixed counters without a gap */
	u64 value[REFPMU_MAX_GENERAL + REFPMU_MAX_FIXED];
};

struct refpmu_recording {
	u64 offcore_rsp[2];
	u64 ld_lat;
	u64 pebs_enable;
	u64 pebs_data_cfg;
	u64 ds_area;
	u64 debugctl;
	u64 next[2]; /* new indexes of the DS area in this version: BTS, PEBS */
};

struct refpmu_stack {
	u64 select;
	u64 tos;
	u64 valid; /* bit i: entry i has a value; otherwise it reads as 0 */
	/* Bytes: the entry in m->lbr for each register, then the spare entry of each version. */
	u64 map[(REFPMU_LBR_ENTRIES + 7) / 8];
};

struct refpmu_version {
	struct refpmu_global global;
	struct refpmu_select select;
	struct refpmu_count count;
	struct refpmu_recording recording;
	struct refpmu_stack stack;
};

/* A block has four bits in m->head and eight in m->claims. */
enum refpmu_block {
	REFPMU_BLOCK_GLOBAL,
	REFPMU_BLOCK_SELECT,
	REFPMU_BLOCK_COUNT,
	REFPMU_BLOCK_RECORDING,
	REFPMU_BLOCK_STACK,
	REFPMU_BLOCKS,
};

/* Index of @member among the words of its block, a struct refpmu_@block. */
#define REFPMU_WORD(block, member) ((unsigned int)(offsetof(struct refpmu_##block, member) / 8))

/* Return the words of @block. */
static inline u64 *refpmu_block_words(struct refpmu_version *version, enum refpmu_block block)
{
	/* In the order of the blocks, because C++ has no array designators. */
	static const u8 first[REFPMU_BLOCKS] = {
		REFPMU_WORD(version, global), REFPMU_WORD(version, select),
		REFPMU_WORD(version, count),  REFPMU_WORD(version, recording),
		REFPMU_WORD(version, stack),
	};

	return (u64 *)version + first[block];
}

/* m->head: the version of each block, and the generation above them. */
#define REFPMU_GENERATION BIT_ULL(32)

/* Return the version of @block in @head. */
static inline unsigned int refpmu_version_of(u64 head, enum refpmu_block block)
{
	return head >> (4 * block) & 0xf;
}

#endif /* REFPMU_MODEL_VERSION_H */
