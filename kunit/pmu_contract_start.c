// SPDX-License-Identifier: GPL-2.0-only
/* Cases of pmu_contract: start, stop and read. */
#include "pmu_contract.h"

void pmu_contract_stop_with_update_sets_stopped_and_uptodate(struct kunit *test)
{
	struct dut *dut = test->priv;

	VERIFIES(test, "DRC-051", "DRC-052", "DRV-037");
	if (!contract_has_state(test))
		return;
	if (!contract_add(test, dut_start_flag(dut)))
		return;
	dut_stop(dut, FIRST, PERF_EF_UPDATE);
	contract_expect_stopped_uptodate(test);
}

void pmu_contract_stopped_event_does_not_count(struct kunit *test)
{
	struct dut *dut = test->priv;
	u64 pace, from, to;

	VERIFIES(test, "DRC-052", "DRC-060", "DRV-012");
	pace = contract_begin(test);
	if (!pace)
		return;
	dut_stop(dut, FIRST, PERF_EF_UPDATE);
	from = dut_count(dut, FIRST);
	dut_wait(dut, pace);
	to = dut_read(dut, FIRST);
	KUNIT_EXPECT_TRUE_MSG(test, to == from, "a read adds to it: %llu, then %llu", from, to);
}

void pmu_contract_stop_without_update_sets_uptodate_only_if_updated(struct kunit *test)
{
	struct dut *dut = test->priv;
	u64 pace, stopped, folded, again;
	int flags;

	VERIFIES(test, "DRC-051", "DRC-052", "DRV-009", "DRV-037");
	if (!contract_has_state(test))
		return;
	pace = contract_begin(test);
	if (!pace)
		return;
	dut_wait(dut, pace);
	dut_stop(dut, FIRST, 0);
	flags = dut_flags(dut, FIRST);
	stopped = dut_count(dut, FIRST);
	dut_wait(dut, pace);
	dut_stop(dut, FIRST, PERF_EF_UPDATE);
	folded = dut_count(dut, FIRST);
	dut_wait(dut, pace);
	dut_stop(dut, FIRST, PERF_EF_UPDATE);
	again = dut_count(dut, FIRST);
	KUNIT_EXPECT_TRUE_MSG(test, flags & PERF_HES_STOPPED, "its flags are %#x", flags);
	KUNIT_EXPECT_TRUE_MSG(test, !(flags & PERF_HES_UPTODATE) || folded == stopped,
			      "it said it was up to date at %llu, and was at %llu", stopped,
			      folded);
	KUNIT_EXPECT_TRUE_MSG(test, dut_flags(dut, FIRST) == DUT_STOPPED_UPTODATE,
			      "updated, its flags are %#x", dut_flags(dut, FIRST));
	KUNIT_EXPECT_TRUE_MSG(test, again == folded, "it is folded again: %llu, then %llu", folded,
			      again);
}

void pmu_contract_second_stop_changes_nothing(struct kunit *test)
{
	struct dut *dut = test->priv;
	u64 pace, from, to;
	int flags;

	VERIFIES(test, "DRC-055", "DRV-009");
	pace = contract_begin(test);
	if (!pace)
		return;
	dut_stop(dut, FIRST, PERF_EF_UPDATE);
	flags = dut_flags(dut, FIRST);
	from = dut_count(dut, FIRST);
	dut_wait(dut, pace);
	dut_stop(dut, FIRST, PERF_EF_UPDATE);
	dut_stop(dut, FIRST, 0);
	to = dut_count(dut, FIRST);
	KUNIT_EXPECT_TRUE_MSG(test, to == from, "%llu, then %llu", from, to);
	KUNIT_EXPECT_TRUE_MSG(test, dut_flags(dut, FIRST) == flags, "flags %#x, then %#x", flags,
			      dut_flags(dut, FIRST));
}

/* Stop the event, start it again with @flags, and check that it counts. */
static void expect_restart(struct kunit *test, u64 pace, int flags)
{
	struct dut *dut = test->priv;
	u64 from, to;

	dut_stop(dut, FIRST, PERF_EF_UPDATE);
	from = dut_count(dut, FIRST);
	dut_wait(dut, pace);
	dut_start(dut, FIRST, flags);
	KUNIT_EXPECT_TRUE_MSG(test, !dut_flags(dut, FIRST), "started by %#x, its flags are %#x",
			      flags, dut_flags(dut, FIRST));
	KUNIT_EXPECT_TRUE_MSG(test, dut_counts(dut), "started by %#x, it does not count", flags);
	to = dut_count(dut, FIRST);
	KUNIT_EXPECT_TRUE_MSG(test, to > from, "started by %#x, it goes back from %llu to %llu",
			      flags, from, to);
}

void pmu_contract_start_resumes_counting_after_a_stop(struct kunit *test)
{
	u64 pace;

	VERIFIES(test, "DRC-053", "DRC-062", "DRV-010", "DRV-011", "DRV-037");
	pace = contract_begin(test);
	if (!pace)
		return;
	expect_restart(test, pace, PERF_EF_RELOAD);
	expect_restart(test, pace, 0);
	expect_restart(test, pace, PERF_EF_RELOAD);
}

/* Events between a stop and a start must not be counted, even if the counter has counted them. */
void pmu_contract_events_between_stop_and_start_are_not_counted(struct kunit *test)
{
	struct dut *dut = test->priv;
	static const int flags[] = { PERF_EF_RELOAD, 0 };
	u64 pace, from, to;
	unsigned int i;

	VERIFIES(test, "DRC-052", "DRC-053", "DRV-011");
	pace = contract_begin(test);
	if (!pace)
		return;
	if (!dut_stops_when_off(dut, pace)) {
		kunit_mark_skipped(test, "events count while the PMU is off");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		dut_stop(dut, FIRST, PERF_EF_UPDATE);
		from = dut_count(dut, FIRST);
		dut_wait(dut, pace);
		/* The PMU is disabled, so the event cannot count between start and stop. */
		dut_off(dut);
		dut_call_start(dut, FIRST, flags[i]);
		dut_call_stop(dut, FIRST, PERF_EF_UPDATE);
		dut_on(dut);
		to = dut_count(dut, FIRST);
		KUNIT_EXPECT_TRUE_MSG(test, to == from, "started by %#x: %llu, then %llu", flags[i],
				      from, to);
		dut_start(dut, FIRST, PERF_EF_RELOAD);
	}
}

/*
 * Perf stops and starts a throttled event without flags. Nothing is counted twice or lost: neither
 * the events before the stop nor those after the start.
 */
void pmu_contract_stop_and_start_without_flags_continue_the_count(struct kunit *test)
{
	struct dut *dut = test->priv;
	u64 pace, from, to, later;
	int flags;

	VERIFIES(test, "DRC-052", "DRC-053", "DRV-011", "DRV-012");
	if (!contract_has_state(test))
		return;
	pace = contract_begin(test);
	if (!pace)
		return;
	if (!dut_stops_when_off(dut, pace)) {
		kunit_mark_skipped(test, "events count while the PMU is off");
		return;
	}
	dut_wait(dut, pace);
	/* The PMU is disabled, so no event happens between the two reads. */
	dut_off(dut);
	from = dut_call_read(dut, FIRST);
	dut_call_stop(dut, FIRST, 0);
	dut_call_start(dut, FIRST, 0);
	flags = dut_flags(dut, FIRST);
	to = dut_call_read(dut, FIRST);
	dut_on(dut);
	KUNIT_EXPECT_TRUE_MSG(test, !flags, "started, its flags are %#x", flags);
	KUNIT_EXPECT_TRUE_MSG(test, to == from, "%llu, then %llu", from, to);
	/* The counter now holds events that were not read. */
	dut_wait(dut, pace);
	dut_off(dut);
	dut_call_stop(dut, FIRST, 0);
	dut_call_start(dut, FIRST, 0);
	later = dut_call_read(dut, FIRST);
	dut_on(dut);
	KUNIT_EXPECT_TRUE_MSG(test, later > to, "a stop loses events: %llu, then %llu", to, later);
	KUNIT_EXPECT_TRUE_MSG(test, dut_counts(dut), "started again, it does not count");
}

void pmu_contract_start_without_an_aux_area_leaves_the_event_stopped(struct kunit *test)
{
	struct dut *dut = test->priv;

	VERIFIES(test, "DRC-064", "DRC-099");
	if (!dut_has_callbacks(test))
		return;
	if (!dut->pmu->setup_aux) {
		kunit_mark_skipped(test, "the PMU has no AUX area");
		return;
	}
	if (!contract_add(test, 0))
		return;
	dut_start(dut, FIRST, PERF_EF_RELOAD);
	contract_expect_stopped_uptodate(test);
}

void pmu_contract_count_never_decreases(struct kunit *test)
{
	struct dut *dut = test->priv;
	u64 last;
	unsigned int i;

	VERIFIES(test, "DRC-058", "DRC-061", "DRV-012");
	if (!contract_begin(test))
		return;
	last = dut_count(dut, FIRST);
	for (i = 0; i < ROUNDS; i++) {
		const u64 now = dut_read(dut, FIRST);

		if (now < last || now - last > S64_MAX)
			break;
		last = now;
	}
	KUNIT_EXPECT_TRUE_MSG(test, i == ROUNDS, "read %u goes back from %llu to %llu", i, last,
			      dut_count(dut, FIRST));
	KUNIT_EXPECT_TRUE_MSG(test, !dut_flags(dut, FIRST), "a read changes its flags to %#x",
			      dut_flags(dut, FIRST));
}

/* A redundant call for one event must not affect another event. */
void pmu_contract_redundant_stop_does_not_affect_other_events(struct kunit *test)
{
	struct dut *dut = test->priv;
	unsigned int other = dut->n_events;

	VERIFIES(test, "DRC-052", "DRC-055", "DRV-003", "DRV-009");
	if (!contract_begin(test))
		return;
	if (!dut_open(dut) || dut_add(dut, other, dut_start_flag(dut))) {
		kunit_mark_skipped(test, "there is no room for a second event");
		return;
	}
	dut_stop(dut, other, PERF_EF_UPDATE);
	dut_stop(dut, other, PERF_EF_UPDATE);
	KUNIT_EXPECT_TRUE_MSG(test, dut_counts(dut), "one is stopped, and another does not count");
	dut_stop(dut, other, 0);
	KUNIT_EXPECT_TRUE_MSG(test, dut_counts(dut), "one is stopped, and another does not count");
	dut_start(dut, other, PERF_EF_RELOAD);
	dut_stop(dut, other, PERF_EF_UPDATE);
	KUNIT_EXPECT_TRUE_MSG(test, dut_counts(dut), "one was on, and another does not count");
	dut_del(dut, other);
	KUNIT_EXPECT_TRUE_MSG(test, dut_counts(dut), "one is gone, and another does not count");
}

/* The events that were counted in a certain time. */
struct pmu_contract_interval {
	u64 ns;
	u64 n;
};

static struct pmu_contract_interval measure_running(struct dut *dut, u64 pace)
{
	const u64 began = ktime_get_ns(), from = dut_read(dut, FIRST);

	dut_wait(dut, pace);
	return (struct pmu_contract_interval){
		.n = dut_read(dut, FIRST) - from,
		.ns = ktime_get_ns() - began,
	};
}

static struct pmu_contract_interval measure_restarted(struct dut *dut, u64 pace)
{
	const u64 began = ktime_get_ns(), from = dut_read(dut, FIRST);

	dut_stop(dut, FIRST, PERF_EF_UPDATE);
	dut_start(dut, FIRST, PERF_EF_RELOAD);
	dut_stop(dut, FIRST, PERF_EF_UPDATE);
	dut_start(dut, FIRST, 0);
	dut_del(dut, FIRST);
	if (dut_add(dut, FIRST, PERF_EF_START))
		return (struct pmu_contract_interval){ 0 };
	dut_wait(dut, pace);
	return (struct pmu_contract_interval){
		.n = dut_read(dut, FIRST) - from,
		.ns = ktime_get_ns() - began,
	};
}

/* The rate of events varies, so the case detects only counts that are far too high. */
#define UNLIKELY_TIMES 10000

void pmu_contract_restart_adds_nothing_to_the_count(struct kunit *test)
{
	struct pmu_contract_interval before, after;
	u64 pace, most;

	VERIFIES(test, "DRC-053", "DRC-061", "DRC-066");
	pace = contract_begin(test);
	if (!pace)
		return;
	before = measure_running(test->priv, pace);
	after = measure_restarted(test->priv, pace);
	KUNIT_EXPECT_TRUE_MSG(test, after.ns, "it cannot be added again");
	most = (before.n + 1) * (after.ns / (before.ns + 1) + 1);
	KUNIT_EXPECT_TRUE_MSG(test, after.n / UNLIKELY_TIMES <= most,
			      "%llu in %llu ns, then over two starts and an add %llu in %llu ns",
			      before.n, before.ns, after.n, after.ns);
}
