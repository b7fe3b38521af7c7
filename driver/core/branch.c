// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Select the branch records that match an event's branch_sample_type, and convert them for perf. */
#include "branch.h"

#define TRANSACTION (REFPMU_WANT_BRANCH_IN_TX | REFPMU_WANT_BRANCH_NO_TX)

#define ALL_TYPES                                                                          \
	(REFPMU_WANT_BRANCH_ANY | REFPMU_WANT_BRANCH_ANY_CALL |                            \
	 REFPMU_WANT_BRANCH_ANY_RETURN | REFPMU_WANT_BRANCH_IND_CALL |                     \
	 REFPMU_WANT_BRANCH_ABORT_TX | REFPMU_WANT_BRANCH_COND |                           \
	 REFPMU_WANT_BRANCH_CALL_STACK | REFPMU_WANT_BRANCH_IND_JUMP |                     \
	 REFPMU_WANT_BRANCH_CALL)

/*
 * The PERF_BR_* type of each branch type of the device, and the requests that match it besides ANY.
 */
static const struct {
	u64 requests;
	u8 type;
} types[] = {
	[REFPMU_LBR_TYPE_JCC] = { REFPMU_WANT_BRANCH_COND, REFPMU_BRANCH_TYPE_COND },
	[REFPMU_LBR_TYPE_IND_JMP] = { REFPMU_WANT_BRANCH_IND_JUMP, REFPMU_BRANCH_TYPE_IND },
	[REFPMU_LBR_TYPE_REL_JMP] = { 0, REFPMU_BRANCH_TYPE_UNCOND },
	[REFPMU_LBR_TYPE_IND_CALL] = { REFPMU_WANT_BRANCH_IND_CALL | REFPMU_WANT_BRANCH_ANY_CALL |
					       REFPMU_WANT_BRANCH_CALL_STACK,
				       REFPMU_BRANCH_TYPE_IND_CALL },
	[REFPMU_LBR_TYPE_REL_CALL] = { REFPMU_WANT_BRANCH_CALL | REFPMU_WANT_BRANCH_ANY_CALL |
					       REFPMU_WANT_BRANCH_CALL_STACK,
				       REFPMU_BRANCH_TYPE_CALL },
	[REFPMU_LBR_TYPE_RET] = { REFPMU_WANT_BRANCH_ANY_RETURN, REFPMU_BRANCH_TYPE_RET },
};

static bool kernel_address(u64 address)
{
	return address >> 63;
}

static unsigned int type_of(const struct refpmu_pebs_lbr *raw)
{
	return (raw->info & REFPMU_LBR_INFO_TYPE) >> REFPMU_LBR_INFO_TYPE_SHIFT;
}

/* Return the request bits (REFPMU_WANT_BRANCH_*) that match the branch in @raw. */
static u64 matching_requests(const struct refpmu_pebs_lbr *raw)
{
	const unsigned int type = type_of(raw);
	u64 requests = REFPMU_WANT_BRANCH_ANY;

	if (type < ARRAY_SIZE(types))
		requests |= types[type].requests;
	else if (kernel_address(raw->from) && !kernel_address(raw->to))
		requests |= REFPMU_WANT_BRANCH_ANY_RETURN;
	else
		requests |= REFPMU_WANT_BRANCH_ANY_CALL;
	if (raw->info & REFPMU_LBR_INFO_ABORT)
		requests |= REFPMU_WANT_BRANCH_ABORT_TX;
	return requests;
}

static bool privilege_is_requested(const struct refpmu_pebs_lbr *raw, u64 filter)
{
	if (kernel_address(raw->to))
		return filter & REFPMU_WANT_BRANCH_KERNEL;
	if (kernel_address(raw->from) && !(filter & REFPMU_WANT_BRANCH_KERNEL))
		return false;
	return filter & REFPMU_WANT_BRANCH_USER;
}

static bool is_requested(const struct refpmu_pebs_lbr *raw, u64 filter)
{
	const u64 in = raw->info & REFPMU_LBR_INFO_IN_TX ? REFPMU_WANT_BRANCH_IN_TX :
							   REFPMU_WANT_BRANCH_NO_TX;
	const u64 requests = filter & ALL_TYPES ? filter : REFPMU_WANT_BRANCH_ANY;

	if (!raw->from && !raw->to)
		return false;
	if ((filter & TRANSACTION) && !(filter & in))
		return false;
	return (requests & matching_requests(raw)) && privilege_is_requested(raw, filter);
}

static struct refpmu_branch_sample convert(const struct refpmu_pebs_lbr *raw, u64 filter)
{
	struct refpmu_branch_sample sample = { .from = raw->from, .to = raw->to };
	const unsigned int type = type_of(raw);

	if (!(filter & REFPMU_WANT_BRANCH_NO_CYCLES))
		sample.cycles = (u16)(raw->info & REFPMU_LBR_INFO_CYCLES);
	if ((filter & REFPMU_WANT_BRANCH_TYPE_SAVE) && type < ARRAY_SIZE(types))
		sample.type = types[type].type;
	if (filter & REFPMU_WANT_BRANCH_PRIV_SAVE)
		sample.priv = kernel_address(raw->to) ? REFPMU_BRANCH_PRIV_KERNEL :
							REFPMU_BRANCH_PRIV_USER;
	if (!(filter & REFPMU_WANT_BRANCH_NO_FLAGS)) {
		sample.mispred = raw->info & REFPMU_LBR_INFO_MISPRED;
		sample.predicted = !sample.mispred;
		sample.in_tx = raw->info & REFPMU_LBR_INFO_IN_TX;
		sample.abort = raw->info & REFPMU_LBR_INFO_ABORT;
	}
	return sample;
}

unsigned int refpmu_branch_filter(const struct refpmu_pebs_lbr *raw, unsigned int n, u64 filter,
				  struct refpmu_branch_sample *to)
{
	unsigned int i, kept = 0;

	for (i = 0; i < n; i++) {
		if (is_requested(&raw[i], filter))
			to[kept++] = convert(&raw[i], filter);
	}
	return kept;
}
