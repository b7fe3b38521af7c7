// SPDX-License-Identifier: GPL-2.0-only
/* Cases of pmu_contract: add and del. */
#include "pmu_contract.h"

/* Each case checks this at its end. This case calls every callback. */
void pmu_contract_callbacks_leave_things_as_they_were(struct kunit *test)
{
	struct live *live = test->priv;
	const char *left;

	KEEPS(test, "DRC-044", "DRC-057", "DRV-001", "DRV-002");
	if (!live_is_whole(test))
		return;
	if (!live_add(live, ALONE, 0)) {
		live_start(live, ALONE, PERF_EF_RELOAD);
		live_read(live, ALONE);
		live_stop(live, ALONE, PERF_EF_UPDATE);
		live_start(live, ALONE, 0);
		live_stop(live, ALONE, 0);
		live_del(live, ALONE);
	}
	left = live->left;
	live->left = NULL;
	KUNIT_EXPECT_TRUE_MSG(test, !left, "%s leaves %s other than it was", live->caller, left);
}

void pmu_contract_add_without_start_is_an_add_and_a_stop(struct kunit *test)
{
	struct live *live = test->priv;
	u64 pace, from, to;
	int flags;

	KEEPS(test, "DRC-047", "DRV-004");
	pace = contract_begin(test);
	if (!pace)
		return;
	live_del(live, ALONE);
	from = live_count(live, ALONE);
	if (!contract_added(test, 0))
		return;
	flags = live_flags(live, ALONE);
	live_wait(live, pace);
	to = live_read(live, ALONE);
	KUNIT_EXPECT_TRUE_MSG(test, flags == LIVE_SETTLED || live_is_software(live),
			      "its flags are %#x", flags);
	KUNIT_EXPECT_TRUE_MSG(test, to == from, "it counts: %llu, then %llu", from, to);
	live_start(live, ALONE, PERF_EF_RELOAD);
	KUNIT_EXPECT_TRUE_MSG(test, live_moves(live), "started, it does not count");
}

void pmu_contract_added_event_is_stopped_until_it_is_started(struct kunit *test)
{
	KEEPS(test, "DRC-047", "DRV-004", "DRV-037");
	if (!contract_has_state(test))
		return;
	if (contract_added(test, 0))
		contract_expect_settled(test);
}

void pmu_contract_add_with_start_counts(struct kunit *test)
{
	struct live *live = test->priv;

	KEEPS(test, "DRC-047", "DRC-053", "DRV-005", "DRV-037");
	if (contract_begin(test))
		KUNIT_EXPECT_TRUE_MSG(test, !live_flags(live, ALONE), "its flags are %#x",
				      live_flags(live, ALONE));
}

void pmu_contract_del_settles_a_running_event(struct kunit *test)
{
	struct live *live = test->priv;
	u64 pace, from, to;

	KEEPS(test, "DRC-048", "DRV-007", "DRV-037");
	pace = contract_begin(test);
	if (!pace)
		return;
	from = live_count(live, ALONE);
	live_wait(live, pace);
	live_del(live, ALONE);
	to = live_count(live, ALONE);
	KUNIT_EXPECT_TRUE_MSG(test, to > from, "what it counted last is lost: %llu, then %llu",
			      from, to);
	if (!live_is_software(live))
		KUNIT_EXPECT_TRUE_MSG(test, live_flags(live, ALONE) == LIVE_SETTLED,
				      "its flags are %#x", live_flags(live, ALONE));
	live_wait(live, pace);
	KUNIT_EXPECT_TRUE_MSG(test, live_count(live, ALONE) == to, "its count is not final");
}

void pmu_contract_del_of_a_stopped_event_adds_nothing(struct kunit *test)
{
	struct live *live = test->priv;
	u64 pace, from;

	KEEPS(test, "DRC-048", "DRV-007");
	pace = contract_begin(test);
	if (!pace)
		return;
	live_stop(live, ALONE, PERF_EF_UPDATE);
	from = live_count(live, ALONE);
	live_wait(live, pace);
	live_del(live, ALONE);
	KUNIT_EXPECT_TRUE_MSG(test, live_count(live, ALONE) == from, "%llu, then %llu", from,
			      live_count(live, ALONE));
}

void pmu_contract_count_goes_on_at_the_next_add(struct kunit *test)
{
	struct live *live = test->priv;
	u64 from, to;

	KEEPS(test, "DRC-048", "DRC-061", "DRC-095");
	if (!contract_begin(test))
		return;
	live_del(live, ALONE);
	from = live_count(live, ALONE);
	if (!contract_added(test, PERF_EF_START))
		return;
	KUNIT_EXPECT_TRUE_MSG(test, live_moves(live), "it does not count any more");
	to = live_count(live, ALONE);
	KUNIT_EXPECT_TRUE_MSG(test, to > from, "%llu, then %llu", from, to);
}

void pmu_contract_del_gives_the_counter_back(struct kunit *test)
{
	struct live *live = test->priv;
	unsigned int i;
	int err = 0;

	KEEPS(test, "DRC-048", "DRV-008");
	if (!live_is_whole(test))
		return;
	for (i = 0; i < TURNS && !err; i++) {
		err = live_add(live, ALONE, i % 2 ? live_how(live) : 0);
		if (!err)
			live_del(live, ALONE);
	}
	KUNIT_EXPECT_TRUE_MSG(test, !err, "add %u: %d", i, err);
}
