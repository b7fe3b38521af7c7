/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* From the device's branch records to those that an event asked for, as perf shows them. */
#ifndef REFPMU_CORE_BRANCH_H
#define REFPMU_CORE_BRANCH_H

#include "../model/record.h"
#include "refpmu_port.h"

/* Bits of attr.branch_sample_type: PERF_SAMPLE_BRANCH_* of perf_event_open(2). */
#define REFPMU_WANT_BRANCH_USER BIT_ULL(0)
#define REFPMU_WANT_BRANCH_KERNEL BIT_ULL(1)
#define REFPMU_WANT_BRANCH_HV BIT_ULL(2) /* there is no hypervisor, so this adds none */
#define REFPMU_WANT_BRANCH_ANY BIT_ULL(3)
#define REFPMU_WANT_BRANCH_ANY_CALL BIT_ULL(4)
#define REFPMU_WANT_BRANCH_ANY_RETURN BIT_ULL(5)
#define REFPMU_WANT_BRANCH_IND_CALL BIT_ULL(6)
#define REFPMU_WANT_BRANCH_ABORT_TX BIT_ULL(7)
#define REFPMU_WANT_BRANCH_IN_TX BIT_ULL(8)
#define REFPMU_WANT_BRANCH_NO_TX BIT_ULL(9)
#define REFPMU_WANT_BRANCH_COND BIT_ULL(10)
#define REFPMU_WANT_BRANCH_CALL_STACK BIT_ULL(11)
#define REFPMU_WANT_BRANCH_IND_JUMP BIT_ULL(12)
#define REFPMU_WANT_BRANCH_CALL BIT_ULL(13)
#define REFPMU_WANT_BRANCH_NO_FLAGS BIT_ULL(14)
#define REFPMU_WANT_BRANCH_NO_CYCLES BIT_ULL(15)
#define REFPMU_WANT_BRANCH_TYPE_SAVE BIT_ULL(16)
#define REFPMU_WANT_BRANCH_HW_INDEX BIT_ULL(17) /* says nothing about single branches */
#define REFPMU_WANT_BRANCH_PRIV_SAVE BIT_ULL(18)

/* PERF_BR_*, as far as the device tells branches apart. */
enum refpmu_branch_type {
	REFPMU_BRANCH_TYPE_UNKNOWN = 0, /* not asked for, or a far one */
	REFPMU_BRANCH_TYPE_COND = 1,
	REFPMU_BRANCH_TYPE_UNCOND = 2,
	REFPMU_BRANCH_TYPE_IND = 3,
	REFPMU_BRANCH_TYPE_CALL = 4,
	REFPMU_BRANCH_TYPE_IND_CALL = 5,
	REFPMU_BRANCH_TYPE_RET = 6,
};

/* PERF_BR_PRIV_*: where a branch ends. */
enum refpmu_branch_priv {
	REFPMU_BRANCH_PRIV_UNKNOWN = 0, /* not asked for */
	REFPMU_BRANCH_PRIV_USER = 1,
	REFPMU_BRANCH_PRIV_KERNEL = 2,
};

/* What struct perf_branch_entry says. */
struct refpmu_branch_sample {
	u64 from;
	u64 to;
	u16 cycles; /* since the record before; 0 with NO_CYCLES */
	u8 type; /* enum refpmu_branch_type */
	u8 priv; /* enum refpmu_branch_priv */
	/* All false with NO_FLAGS. */
	bool mispred;
	bool predicted;
	bool in_tx;
	bool abort;
};

/*
 * Copy those of the @n entries in @raw that @filter, an attr.branch_sample_type, asks for to @to,
 * which has room for @n, in their order; returns how many. Whatever the device has left out or not:
 *
 * - kinds: an entry of one of those that are asked for; of any, with ANY or if no kind is asked
 *   for. A far branch back to user space counts as a return, each other far one as a call. An
 *   abort is of the kind ABORT_TX beside its own. CALL_STACK asks for direct and indirect calls.
 * - IN_TX, NO_TX: if one of them is asked for, entries outside, or inside, are left out.
 * - privilege: that of where it ends, by the address (the upper half is the kernel's), must be
 *   asked for. Without KERNEL no address of the kernel is shown: the branch must begin in user
 *   space too.
 * - entries that are 0 were never written.
 */
unsigned int refpmu_branch_filter(const struct refpmu_pebs_lbr *raw, unsigned int n, u64 filter,
				  struct refpmu_branch_sample *to);

#endif /* REFPMU_CORE_BRANCH_H */
