/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * What the modelled hardware keeps in memory: the DS area and the records in its two buffers.
 * Source: Intel SDM vol. 3, "Debug Store (DS) Mechanism", "Adaptive PEBS" (record format 5,
 * and where it is said, format 3).
 * All fields are little endian 64-bit words, as the CPU stores them.
 */
#ifndef REFPMU_MODEL_RECORD_H
#define REFPMU_MODEL_RECORD_H

#include "registers.h"

/*
 * The DS area. Software sets it up while nothing is recorded; hardware moves the two indexes. A
 * record is written at the index if it ends at or before the absolute maximum, else it is lost;
 * an index that is at or past its threshold afterwards is an interrupt (BTS: if BTINT is set;
 * without BTINT an index that reaches the maximum goes back to the base, and nothing is lost).
 */
struct refpmu_ds {
	u64 bts_base;
	u64 bts_index;
	u64 bts_maximum; /* first byte past the buffer */
	u64 bts_threshold;
	u64 pebs_base;
	u64 pebs_index;
	u64 pebs_maximum;
	u64 pebs_threshold;
	/* What a counter that wrote a record goes on from: general ones, then fixed ones. */
	u64 reset[REFPMU_MAX_GENERAL + REFPMU_MAX_FIXED];
};

struct refpmu_bts_record {
	u64 from;
	u64 to;
	u64 flags; /* REFPMU_BTS_* */
};

#define REFPMU_BTS_PREDICTED BIT_ULL(4)

/* A PEBS record is these groups in this order; all but the first only if PEBS_DATA_CFG says so. */
struct refpmu_pebs_basic {
	u64 format; /* bits 0-47: PEBS_DATA_CFG of the record; bits 48-63: its size in bytes */
	u64 ip; /* of the instruction itself: no skid */
	u64 counters; /* that overflowed into this record, as in GLOBAL_STATUS */
	u64 time;
};

#define REFPMU_PEBS_SIZE_SHIFT 48

struct refpmu_pebs_memory {
	u64 address;
	u64 source; /* as PERF_MEM_* data source bits */
	u64 latency; /* cycles */
	u64 transaction; /* 0 */
};

/* General registers in the order of the record, and of struct refpmu_origin. */
#define REFPMU_GPRS 16
enum refpmu_gpr {
	REFPMU_RAX,
	REFPMU_RCX,
	REFPMU_RDX,
	REFPMU_RBX,
	REFPMU_RSP,
	REFPMU_RBP,
	REFPMU_RSI,
	REFPMU_RDI,
	REFPMU_R8,
	REFPMU_R15 = 15,
};

struct refpmu_pebs_gprs {
	u64 flags;
	u64 ip;
	u64 gpr[REFPMU_GPRS];
};

/*
 * A PEBS record of format 3: of general counters alone, and each has all of this.
 * Source: Intel SDM vol. 3, "PEBS Record Format for ... Skylake Microarchitecture".
 */
struct refpmu_pebs_whole {
	u64 flags;
	u64 ip; /* both are of the instruction itself: no skid */
	u64 gpr[REFPMU_GPRS]; /* in another order: RAX RBX RCX RDX RSI RDI RBP RSP R8 to R15 */
	u64 counters;
	u64 address;
	u64 source;
	u64 latency;
	u64 eventing_ip;
	u64 transaction; /* 0 */
	u64 time;
};

/* As many as PEBS_DATA_CFG asks for, newest first; entries that LBR does not have are 0. */
struct refpmu_pebs_lbr {
	u64 from;
	u64 to;
	u64 info;
};

#endif /* REFPMU_MODEL_RECORD_H */
