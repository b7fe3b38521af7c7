// SPDX-License-Identifier: GPL-2.0-only
/* First steps of many cases of pmu_contract: start an event, fill the PMU. */
#include "pmu_contract.h"

/* Reasons for which a case cannot check counts. */
#define IDLE "the event does not happen by itself"
#define SOFTWARE "a software PMU keeps no state of a counter"

bool contract_added(struct kunit *test, int flags)
{
	int err = live_add(test->priv, ALONE, flags);

	KUNIT_EXPECT_TRUE_MSG(test, !err, "add: %d", err);
	return !err;
}

void contract_expect_settled(struct kunit *test)
{
	int flags = live_flags(test->priv, ALONE);

	KUNIT_EXPECT_TRUE_MSG(test, flags == LIVE_SETTLED, "its flags are %#x", flags);
}

u64 contract_begin(struct kunit *test)
{
	struct live *live = test->priv;
	u64 pace;

	if (!live_is_whole(test))
		return 0;
	if (live->target->idle) {
		kunit_mark_skipped(test, IDLE);
		return 0;
	}
	if (!contract_added(test, PERF_EF_START))
		return 0;
	pace = live_moves(live);
	KUNIT_EXPECT_TRUE_MSG(test, pace, "added and started, it does not count");
	return pace;
}

bool contract_has_state(struct kunit *test)
{
	if (!live_is_whole(test))
		return false;
	if (!live_is_software(test->priv))
		return true;
	kunit_mark_skipped(test, SOFTWARE);
	return false;
}

bool contract_fill(struct kunit *test, unsigned int *fit)
{
	struct live *live = test->priv;

	if (!live_is_whole(test))
		return false;
	*fit = live_fill(live);
	if (*fit != live->n_events)
		return true;
	kunit_mark_skipped(test, "every group fits: %u events are on at once", *fit);
	return false;
}
