/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Data of the modeled hardware in memory: the DS area and the records in its two buffers. Source:
 * Intel SDM vol. 3, "Debug Store (DS) Mechanism", "Adaptive PEBS" (record format 5, and format 3
 * where stated). All fields are little-endian 64-bit words, as the CPU stores them.
 */
#ifndef REFPMU_MODEL_RECORD_H
#define REFPMU_MODEL_RECORD_H

#include "registers.h"

/*
 * The DS area. Software sets it up while recording is off; hardware moves the two indexes. A record
 * is written at the index if it ends at or before the absolute maximum, otherwise it is lost. If
 * the index is then at or past its threshold, the device raises an interrupt; for BTS only with
 * BTINT. Without BTINT, a BTS index that reaches the maximum returns to the base, and no record is
 * lost.
 */
struct refpmu_ds {
	u64 bts_base;
	u64 bts_index;
	u64 bts_maximum; /* first byte after the buffer */
	u64 bts_threshold;
	u64 pebs_base;
	u64 pebs_index;
	u64 pebs_maximum;
	u64 pebs_threshold;
	/*
	 * Value that a counter is reloaded with after a record: general counters, then fixed
	 * counters.
	 */
	u64 reset[REFPMU_MAX_GENERAL + REFPMU_MAX_FIXED];
};

struct refpmu_bts_record {
	u64 from;
	u64 to;
	u64 flags; /* REFPMU_BTS_* */
};

#define REFPMU_BTS_PREDICTED BIT_ULL(4)

/*
 * A PEBS record consists of these groups in this order. All but the first depend on PEBS_DATA_CFG.
 */
struct refpmu_pebs_basic {
	u64 format; /* bits 0-47: PEBS_DATA_CFG of the record; bits 48-63: its size in bytes */
	u64 ip; /* address of the instruction itself: no skid */
	u64 counters; /* counters whose overflow caused this record, as in GLOBAL_STATUS */
	u64 time;
};

#define REFPMU_PEBS_SIZE_SHIFT 48

struct refpmu_pebs_memory {
	u64 address;
	u64 source; /* as PERF_MEM_* data source bits */
	u64 latency; /* cycles */
	u64 transaction; /* always 0 */
};

/* General registers in the order of a record and of struct refpmu_origin. */
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
 * A PEBS record of format 3. Only general counters write it, and each record has all fields.
 * Source: Intel SDM vol. 3, "PEBS Record Format for ... Skylake Microarchitecture".
 */
struct refpmu_pebs_format3 {
	u64 flags;
	u64 ip; /* ip and eventing_ip are both the address of the instruction itself: no skid */
	u64 gpr[REFPMU_GPRS]; /* order: RAX RBX RCX RDX RSI RDI RBP RSP R8 to R15 */
	u64 counters;
	u64 address;
	u64 source;
	u64 latency;
	u64 eventing_ip;
	u64 transaction; /* always 0 */
	u64 time;
};

/*
 * As many as PEBS_DATA_CFG requests, newest first. Entries that the LBR stack does not have are 0.
 */
struct refpmu_pebs_lbr {
	u64 from;
	u64 to;
	u64 info;
};

#endif /* REFPMU_MODEL_RECORD_H */
