/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Select the branch records that match an event's branch_sample_type, and convert them for perf. */
#ifndef REFPMU_CORE_BRANCH_H
#define REFPMU_CORE_BRANCH_H

#include "../model/record.h"
#include "refpmu_port.h"

/* Bits of attr.branch_sample_type: PERF_SAMPLE_BRANCH_* of perf_event_open(2). */
#define REFPMU_WANT_BRANCH_USER BIT_ULL(0)
#define REFPMU_WANT_BRANCH_KERNEL BIT_ULL(1)
#define REFPMU_WANT_BRANCH_HV BIT_ULL(2) /* no effect: the device has no hypervisor */
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
/* adds an index to the sample; does not select branches */
#define REFPMU_WANT_BRANCH_HW_INDEX BIT_ULL(17)
#define REFPMU_WANT_BRANCH_PRIV_SAVE BIT_ULL(18)

/* The values of PERF_BR_* that the device can distinguish. */
enum refpmu_branch_type {
	REFPMU_BRANCH_TYPE_UNKNOWN = 0, /* not requested, or a far branch */
	REFPMU_BRANCH_TYPE_COND = 1,
	REFPMU_BRANCH_TYPE_UNCOND = 2,
	REFPMU_BRANCH_TYPE_IND = 3,
	REFPMU_BRANCH_TYPE_CALL = 4,
	REFPMU_BRANCH_TYPE_IND_CALL = 5,
	REFPMU_BRANCH_TYPE_RET = 6,
};

/* PERF_BR_PRIV_*: the privilege level of the branch target. */
enum refpmu_branch_priv {
	REFPMU_BRANCH_PRIV_UNKNOWN = 0, /* not requested */
	REFPMU_BRANCH_PRIV_USER = 1,
	REFPMU_BRANCH_PRIV_KERNEL = 2,
};

/* The fields of struct perf_branch_entry that the device can fill in. */
struct refpmu_branch_sample {
	u64 from;
	u64 to;
	u16 cycles; /* since the previous record; 0 with NO_CYCLES */
	u8 type; /* enum refpmu_branch_type */
	u8 priv; /* enum refpmu_branch_priv */
	/* All four are false with NO_FLAGS. */
	bool mispred;
	bool predicted;
	bool in_tx;
	bool abort;
};

/**
 * refpmu_branch_filter() - Select and convert the branch records that an event requests.
 * @raw: Records of the device, newest first.
 * @n: Number of records.
 * @filter: The event's branch_sample_type.
 * @to: Output array with room for @n entries, in the order of @raw.
 *
 * The function checks every criterion, even if the device has already filtered by it:
 *
 * - Branch type: the type must be requested, or ANY, or no type at all. A far branch to user space
 *   counts as a return, every other far branch as a call. An abort matches ABORT_TX in addition to
 *   its own type. CALL_STACK requests direct and indirect calls.
 * - IN_TX, NO_TX: IN_TX alone drops branches outside of a transaction, NO_TX alone those inside.
 * - Privilege: the level of the target address must be requested; addresses in the upper half
 *   belong to the kernel. Without KERNEL the source address must be in user space too, so that no
 *   sample shows a kernel address.
 * - Records whose two addresses are 0 were never written.
 *
 * Return: The number of entries in @to.
 */
unsigned int refpmu_branch_filter(const struct refpmu_pebs_lbr *raw, unsigned int n, u64 filter,
				  struct refpmu_branch_sample *to);

#endif /* REFPMU_CORE_BRANCH_H */
