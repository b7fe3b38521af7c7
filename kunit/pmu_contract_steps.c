// SPDX-License-Identifier: GPL-2.0-only
/* First steps of many cases of pmu_contract: start an event, fill the PMU. */
#include "pmu_contract.h"

/* Reasons for which a case cannot check counts. */
#define IDLE "the event does not happen by itself"
#define SOFTWARE "a software PMU keeps no state of a counter"

bool contract_add(struct kunit *test, int flags)
{
	int err = dut_add(test->priv, FIRST, flags);

	KUNIT_EXPECT_TRUE_MSG(test, !err, "add: %d", err);
	return !err;
}

void contract_expect_stopped_uptodate(struct kunit *test)
{
	int flags = dut_flags(test->priv, FIRST);

	KUNIT_EXPECT_TRUE_MSG(test, flags == DUT_STOPPED_UPTODATE, "its flags are %#x", flags);
}

u64 contract_begin(struct kunit *test)
{
	struct dut *dut = test->priv;
	u64 pace;

	if (!dut_has_callbacks(test))
		return 0;
	if (dut->target->idle) {
		kunit_mark_skipped(test, IDLE);
		return 0;
	}
	if (!contract_add(test, PERF_EF_START))
		return 0;
	pace = dut_counts(dut);
	KUNIT_EXPECT_TRUE_MSG(test, pace, "added and started, it does not count");
	return pace;
}

bool contract_has_state(struct kunit *test)
{
	if (!dut_has_callbacks(test))
		return false;
	if (!dut_is_software(test->priv))
		return true;
	kunit_mark_skipped(test, SOFTWARE);
	return false;
}

bool contract_fill(struct kunit *test, unsigned int *fit)
{
	struct dut *dut = test->priv;

	if (!dut_has_callbacks(test))
		return false;
	*fit = dut_fill(dut);
	if (*fit != dut->n_events)
		return true;
	kunit_mark_skipped(test, "every group fits: %u events are on at once", *fit);
	return false;
}
