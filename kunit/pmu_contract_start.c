// SPDX-License-Identifier: GPL-2.0-only
/* Cases of pmu_contract: start, stop and read. */
#include "pmu_contract.h"

void pmu_contract_stop_with_update_settles(struct kunit *test)
{
	struct live *live = test->priv;

	KEEPS(test, "DRC-051", "DRC-052", "DRV-037");
	if (!contract_has_state(test))
		return;
	if (!contract_added(test, live_how(live)))
		return;
	live_stop(live, ALONE, PERF_EF_UPDATE);
	contract_expect_settled(test);
}

void pmu_contract_stopped_event_does_not_count(struct kunit *test)
{
	struct live *live = test->priv;
	u64 pace, from, to;

	KEEPS(test, "DRC-052", "DRC-060", "DRV-012");
	pace = contract_begin(test);
	if (!pace)
		return;
	live_stop(live, ALONE, PERF_EF_UPDATE);
	from = live_count(live, ALONE);
	live_wait(live, pace);
	to = live_read(live, ALONE);
	KUNIT_EXPECT_TRUE_MSG(test, to == from, "a read adds to it: %llu, then %llu", from, to);
}

void pmu_contract_stop_without_update_claims_no_more_than_it_did(struct kunit *test)
{
	struct live *live = test->priv;
	u64 pace, stopped, folded, again;
	int flags;

	KEEPS(test, "DRC-051", "DRC-052", "DRV-009", "DRV-037");
	if (!contract_has_state(test))
		return;
	pace = contract_begin(test);
	if (!pace)
		return;
	live_wait(live, pace);
	live_stop(live, ALONE, 0);
	flags = live_flags(live, ALONE);
	stopped = live_count(live, ALONE);
	live_wait(live, pace);
	live_stop(live, ALONE, PERF_EF_UPDATE);
	folded = live_count(live, ALONE);
	live_wait(live, pace);
	live_stop(live, ALONE, PERF_EF_UPDATE);
	again = live_count(live, ALONE);
	KUNIT_EXPECT_TRUE_MSG(test, flags & PERF_HES_STOPPED, "its flags are %#x", flags);
	KUNIT_EXPECT_TRUE_MSG(test, !(flags & PERF_HES_UPTODATE) || folded == stopped,
			      "it said it was up to date at %llu, and was at %llu", stopped,
			      folded);
	KUNIT_EXPECT_TRUE_MSG(test, live_flags(live, ALONE) == LIVE_SETTLED,
			      "updated, its flags are %#x", live_flags(live, ALONE));
	KUNIT_EXPECT_TRUE_MSG(test, again == folded, "it is folded again: %llu, then %llu", folded,
			      again);
}

void pmu_contract_second_stop_changes_nothing(struct kunit *test)
{
	struct live *live = test->priv;
	u64 pace, from, to;
	int flags;

	KEEPS(test, "DRC-055", "DRV-009");
	pace = contract_begin(test);
	if (!pace)
		return;
	live_stop(live, ALONE, PERF_EF_UPDATE);
	flags = live_flags(live, ALONE);
	from = live_count(live, ALONE);
	live_wait(live, pace);
	live_stop(live, ALONE, PERF_EF_UPDATE);
	live_stop(live, ALONE, 0);
	to = live_count(live, ALONE);
	KUNIT_EXPECT_TRUE_MSG(test, to == from, "%llu, then %llu", from, to);
	KUNIT_EXPECT_TRUE_MSG(test, live_flags(live, ALONE) == flags, "flags %#x, then %#x", flags,
			      live_flags(live, ALONE));
}

/* Stop the event, start it again with @flags, and check that it counts. */
static void expect_restart(struct kunit *test, u64 pace, int flags)
{
	struct live *live = test->priv;
	u64 from, to;

	live_stop(live, ALONE, PERF_EF_UPDATE);
	from = live_count(live, ALONE);
	live_wait(live, pace);
	live_start(live, ALONE, flags);
	KUNIT_EXPECT_TRUE_MSG(test, !live_flags(live, ALONE), "started by %#x, its flags are %#x",
			      flags, live_flags(live, ALONE));
	KUNIT_EXPECT_TRUE_MSG(test, live_moves(live), "started by %#x, it does not count", flags);
	to = live_count(live, ALONE);
	KUNIT_EXPECT_TRUE_MSG(test, to > from, "started by %#x, it goes back from %llu to %llu",
			      flags, from, to);
}

void pmu_contract_start_goes_on_after_a_stop(struct kunit *test)
{
	u64 pace;

	KEEPS(test, "DRC-053", "DRC-062", "DRV-010", "DRV-011", "DRV-037");
	pace = contract_begin(test);
	if (!pace)
		return;
	expect_restart(test, pace, PERF_EF_RELOAD);
	expect_restart(test, pace, 0);
	expect_restart(test, pace, PERF_EF_RELOAD);
}

/* Events between a stop and a start must not be counted, even if the counter has counted them. */
void pmu_contract_time_between_stop_and_start_is_not_counted(struct kunit *test)
{
	struct live *live = test->priv;
	static const int flags[] = { PERF_EF_RELOAD, 0 };
	u64 pace, from, to;
	unsigned int i;

	KEEPS(test, "DRC-052", "DRC-053", "DRV-011");
	pace = contract_begin(test);
	if (!pace)
		return;
	if (!live_holds(live, pace)) {
		kunit_mark_skipped(test, "events count while the PMU is off");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		live_stop(live, ALONE, PERF_EF_UPDATE);
		from = live_count(live, ALONE);
		live_wait(live, pace);
		/* The PMU is disabled, so the event cannot count between start and stop. */
		live_off(live);
		live_call_start(live, ALONE, flags[i]);
		live_call_stop(live, ALONE, PERF_EF_UPDATE);
		live_on(live);
		to = live_count(live, ALONE);
		KUNIT_EXPECT_TRUE_MSG(test, to == from, "started by %#x: %llu, then %llu", flags[i],
				      from, to);
		live_start(live, ALONE, PERF_EF_RELOAD);
	}
}

void pmu_contract_start_without_an_area_leaves_it_stopped(struct kunit *test)
{
	struct live *live = test->priv;

	KEEPS(test, "DRC-064", "DRC-099");
	if (!live_is_whole(test))
		return;
	if (!live->pmu->setup_aux) {
		kunit_mark_skipped(test, "the PMU has no AUX area");
		return;
	}
	if (!contract_added(test, 0))
		return;
	live_start(live, ALONE, PERF_EF_RELOAD);
	contract_expect_settled(test);
}

void pmu_contract_reads_never_go_back(struct kunit *test)
{
	struct live *live = test->priv;
	u64 last;
	unsigned int i;

	KEEPS(test, "DRC-058", "DRC-061", "DRV-012");
	if (!contract_begin(test))
		return;
	last = live_count(live, ALONE);
	for (i = 0; i < TURNS; i++) {
		const u64 now = live_read(live, ALONE);

		if (now < last || now - last > S64_MAX)
			break;
		last = now;
	}
	KUNIT_EXPECT_TRUE_MSG(test, i == TURNS, "read %u goes back from %llu to %llu", i, last,
			      live_count(live, ALONE));
	KUNIT_EXPECT_TRUE_MSG(test, !live_flags(live, ALONE), "a read changes its flags to %#x",
			      live_flags(live, ALONE));
}

/* A redundant call for one event must not affect another event. */
void pmu_contract_others_go_on_beside_a_stopped_event(struct kunit *test)
{
	struct live *live = test->priv;
	unsigned int other = live->n_events;

	KEEPS(test, "DRC-052", "DRC-055", "DRV-003", "DRV-009");
	if (!contract_begin(test))
		return;
	if (!live_open(live) || live_add(live, other, live_how(live))) {
		kunit_mark_skipped(test, "there is no room for a second event");
		return;
	}
	live_stop(live, other, PERF_EF_UPDATE);
	live_stop(live, other, PERF_EF_UPDATE);
	live_stop(live, other, 0);
	KUNIT_EXPECT_TRUE_MSG(test, live_moves(live), "one is stopped, and another does not count");
	live_start(live, other, PERF_EF_RELOAD);
	live_stop(live, other, PERF_EF_UPDATE);
	KUNIT_EXPECT_TRUE_MSG(test, live_moves(live), "one was on, and another does not count");
	live_del(live, other);
	KUNIT_EXPECT_TRUE_MSG(test, live_moves(live), "one is gone, and another does not count");
}

/* The events that were counted in a certain time. */
struct pmu_contract_stretch {
	u64 ns;
	u64 n;
};

static struct pmu_contract_stretch steady(struct live *live, u64 pace)
{
	const u64 began = ktime_get_ns(), from = live_read(live, ALONE);

	live_wait(live, pace);
	return (struct pmu_contract_stretch){
		.n = live_read(live, ALONE) - from,
		.ns = ktime_get_ns() - began,
	};
}

static struct pmu_contract_stretch restarted(struct live *live, u64 pace)
{
	const u64 began = ktime_get_ns(), from = live_read(live, ALONE);

	live_stop(live, ALONE, PERF_EF_UPDATE);
	live_start(live, ALONE, PERF_EF_RELOAD);
	live_stop(live, ALONE, PERF_EF_UPDATE);
	live_start(live, ALONE, 0);
	live_del(live, ALONE);
	if (live_add(live, ALONE, PERF_EF_START))
		return (struct pmu_contract_stretch){ 0 };
	live_wait(live, pace);
	return (struct pmu_contract_stretch){
		.n = live_read(live, ALONE) - from,
		.ns = ktime_get_ns() - began,
	};
}

/* The rate of events varies, so the case detects only counts that are far too high. */
#define UNLIKELY_TIMES 10000

void pmu_contract_restart_invents_no_counts(struct kunit *test)
{
	struct pmu_contract_stretch before, after;
	u64 pace, most;

	KEEPS(test, "DRC-053", "DRC-061", "DRC-066");
	pace = contract_begin(test);
	if (!pace)
		return;
	before = steady(test->priv, pace);
	after = restarted(test->priv, pace);
	KUNIT_EXPECT_TRUE_MSG(test, after.ns, "it cannot be added again");
	most = (before.n + 1) * (after.ns / (before.ns + 1) + 1);
	KUNIT_EXPECT_TRUE_MSG(test, after.n / UNLIKELY_TIMES <= most,
			      "%llu in %llu ns, then over two starts and an add %llu in %llu ns",
			      before.n, before.ns, after.n, after.ns);
}
