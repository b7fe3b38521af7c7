// SPDX-License-Identifier: GPL-2.0-only
/* Cases of pmu_contract: add and del. */
#include "pmu_contract.h"

/* Each case checks this at its end. This case calls every callback. */
void pmu_contract_callbacks_restore_the_state_of_the_caller(struct kunit *test)
{
	struct dut *dut = test->priv;
	const char *left;

	VERIFIES(test, "DRC-044", "DRC-057", "DRV-001", "DRV-002");
	if (!dut_has_callbacks(test))
		return;
	if (!dut_add(dut, FIRST, 0)) {
		dut_start(dut, FIRST, PERF_EF_RELOAD);
		dut_read(dut, FIRST);
		dut_stop(dut, FIRST, PERF_EF_UPDATE);
		dut_start(dut, FIRST, 0);
		dut_stop(dut, FIRST, 0);
		dut_del(dut, FIRST);
	}
	left = dut->unrestored;
	dut->unrestored = NULL;
	KUNIT_EXPECT_TRUE_MSG(test, !left, "%s leaves %s other than it was", dut->caller, left);
}

void pmu_contract_add_without_start_does_not_count(struct kunit *test)
{
	struct dut *dut = test->priv;
	u64 pace, from, to;
	int flags;

	VERIFIES(test, "DRC-047", "DRV-004");
	pace = contract_begin(test);
	if (!pace)
		return;
	dut_del(dut, FIRST);
	from = dut_count(dut, FIRST);
	if (!contract_add(test, 0))
		return;
	flags = dut_flags(dut, FIRST);
	dut_wait(dut, pace);
	to = dut_read(dut, FIRST);
	KUNIT_EXPECT_TRUE_MSG(test, flags == DUT_STOPPED_UPTODATE || dut_is_software(dut),
			      "its flags are %#x", flags);
	KUNIT_EXPECT_TRUE_MSG(test, to == from, "it counts: %llu, then %llu", from, to);
	dut_start(dut, FIRST, PERF_EF_RELOAD);
	KUNIT_EXPECT_TRUE_MSG(test, dut_counts(dut), "started, it does not count");
}

void pmu_contract_add_without_start_sets_stopped_and_uptodate(struct kunit *test)
{
	VERIFIES(test, "DRC-047", "DRV-004", "DRV-037");
	if (!contract_has_state(test))
		return;
	if (contract_add(test, 0))
		contract_expect_stopped_uptodate(test);
}

void pmu_contract_add_with_start_counts(struct kunit *test)
{
	struct dut *dut = test->priv;

	VERIFIES(test, "DRC-047", "DRC-053", "DRV-005", "DRV-037");
	if (contract_begin(test))
		KUNIT_EXPECT_TRUE_MSG(test, !dut_flags(dut, FIRST), "its flags are %#x",
				      dut_flags(dut, FIRST));
}

void pmu_contract_del_stops_and_updates_a_running_event(struct kunit *test)
{
	struct dut *dut = test->priv;
	u64 pace, from, to;

	VERIFIES(test, "DRC-048", "DRV-007", "DRV-037");
	pace = contract_begin(test);
	if (!pace)
		return;
	from = dut_count(dut, FIRST);
	dut_wait(dut, pace);
	dut_del(dut, FIRST);
	to = dut_count(dut, FIRST);
	KUNIT_EXPECT_TRUE_MSG(test, to > from, "what it counted last is lost: %llu, then %llu",
			      from, to);
	if (!dut_is_software(dut))
		KUNIT_EXPECT_TRUE_MSG(test, dut_flags(dut, FIRST) == DUT_STOPPED_UPTODATE,
				      "its flags are %#x", dut_flags(dut, FIRST));
	dut_wait(dut, pace);
	KUNIT_EXPECT_TRUE_MSG(test, dut_count(dut, FIRST) == to, "its count is not final");
}

void pmu_contract_del_of_a_stopped_event_adds_nothing(struct kunit *test)
{
	struct dut *dut = test->priv;
	u64 pace, from;

	VERIFIES(test, "DRC-048", "DRV-007");
	pace = contract_begin(test);
	if (!pace)
		return;
	dut_stop(dut, FIRST, PERF_EF_UPDATE);
	from = dut_count(dut, FIRST);
	dut_wait(dut, pace);
	dut_del(dut, FIRST);
	KUNIT_EXPECT_TRUE_MSG(test, dut_count(dut, FIRST) == from, "%llu, then %llu", from,
			      dut_count(dut, FIRST));
}

void pmu_contract_count_continues_after_del_and_add(struct kunit *test)
{
	struct dut *dut = test->priv;
	u64 from, to;

	VERIFIES(test, "DRC-048", "DRC-061", "DRC-095");
	if (!contract_begin(test))
		return;
	dut_del(dut, FIRST);
	from = dut_count(dut, FIRST);
	if (!contract_add(test, PERF_EF_START))
		return;
	KUNIT_EXPECT_TRUE_MSG(test, dut_counts(dut), "it does not count any more");
	to = dut_count(dut, FIRST);
	KUNIT_EXPECT_TRUE_MSG(test, to > from, "%llu, then %llu", from, to);
}

void pmu_contract_del_frees_the_counter_for_the_next_add(struct kunit *test)
{
	struct dut *dut = test->priv;
	unsigned int i;
	int err = 0;

	VERIFIES(test, "DRC-048", "DRV-008");
	if (!dut_has_callbacks(test))
		return;
	for (i = 0; i < ROUNDS && !err; i++) {
		err = dut_add(dut, FIRST, i % 2 ? dut_start_flag(dut) : 0);
		if (!err)
			dut_del(dut, FIRST);
	}
	KUNIT_EXPECT_TRUE_MSG(test, !err, "add %u: %d", i, err);
}
