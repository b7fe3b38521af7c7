// SPDX-License-Identifier: GPL-2.0-only
/* Cases of pmu_contract: periods and samples, where the PMU can sample. */
#include <linux/err.h>
#include <linux/ktime.h>

#include "pmu_contract.h"

#define LONG BIT_ULL(40) /* a period that does not end during a case */
#define SAMPLES 10
#define PERIODS_A_MS 4
#define LIMIT 2

/* Skip the case if the PMU has no interrupt to signal the end of a period. */
static bool has_interrupt(struct kunit *test)
{
	const struct dut *dut = test->priv;

	if (!dut_has_callbacks(test))
		return false;
	if (!(dut->pmu->capabilities & PERF_PMU_CAP_NO_INTERRUPT))
		return true;
	kunit_mark_skipped(test, "the PMU has no interrupt");
	return false;
}

/* Find a period that ends several times in a millisecond. Return 0 if the case must end. */
static u64 short_period(struct kunit *test)
{
	struct dut *dut = test->priv;
	u64 began, from, n, ns, pace;

	pace = contract_begin(test);
	if (!pace)
		return 0;
	began = ktime_get_ns();
	from = dut_read(dut, FIRST);
	dut_wait(dut, max_t(u64, pace, NSEC_PER_MSEC));
	n = dut_read(dut, FIRST) - from;
	ns = max_t(u64, ktime_get_ns() - began, 1);
	dut_del(dut, FIRST);
	return max_t(u64, div64_u64(n * (NSEC_PER_MSEC / PERIODS_A_MS), ns), 2);
}

/* Return false, with the case skipped, if the event is rejected. */
static bool open_sampling(struct kunit *test, u64 period, struct dut_sampled *sampled)
{
	const int err = dut_sample(test->priv, period, sampled);

	if (!err)
		return true;
	kunit_mark_skipped(test, "an event with the period %llu is refused: %d", period, err);
	return false;
}

/* perf must get exactly one sample for each period, with its length. */
void pmu_contract_each_period_generates_one_sample(struct kunit *test)
{
	struct dut *dut = test->priv;
	struct dut_sampled sampled;
	u64 period, count;
	bool came;

	VERIFIES(test, "DRC-066", "DRC-067", "DRC-071");
	if (!has_interrupt(test))
		return;
	period = short_period(test);
	if (!period || !open_sampling(test, period, &sampled))
		return;
	perf_event_enable(sampled.event);
	came = dut_await(dut, &sampled, SAMPLES);
	perf_event_disable(sampled.event);
	count = local64_read(&sampled.event->count);
	KUNIT_EXPECT_TRUE_MSG(test, came, "%llu samples of %llu in a second, which counted %llu",
			      sampled.samples, period, count);
	KUNIT_EXPECT_TRUE_MSG(test, !sampled.wrong_period,
			      "a sample of %llu, where each is of %llu",
			      sampled.wrong_period, period);
	KUNIT_EXPECT_TRUE_MSG(test, sampled.samples * period <= count,
			      "%llu samples of %llu, which counted %llu", sampled.samples, period,
			      count);
	perf_event_release_kernel(sampled.event);
}

/* The next tick starts the event again. */
void pmu_contract_throttled_event_stops_and_resumes(struct kunit *test)
{
	struct dut *dut = test->priv;
	struct dut_sampled sampled;
	bool throttled, goes_on;
	u64 period;
	int flags;

	VERIFIES(test, "DRC-054", "DRC-055", "DRV-021");
	if (!has_interrupt(test) || !contract_has_state(test))
		return;
	period = short_period(test);
	if (!period || !open_sampling(test, period, &sampled))
		return;
	perf_event_enable(sampled.event);
	throttled = dut_throttle(dut, &sampled, &flags);
	goes_on = dut_await(dut, &sampled, sampled.samples + SAMPLES);
	perf_event_disable(sampled.event);
	if (!throttled) {
		kunit_mark_skipped(test, "too few samples come between two ticks: %llu in all",
				   sampled.samples);
	} else {
		KUNIT_EXPECT_TRUE_MSG(test, flags & PERF_HES_STOPPED,
				      "throttled, its flags are %#x", flags);
		KUNIT_EXPECT_TRUE_MSG(test, goes_on, "throttled once, it samples no more");
	}
	perf_event_release_kernel(sampled.event);
}

void pmu_contract_event_limit_stops_sampling(struct kunit *test)
{
	struct dut *dut = test->priv;
	struct dut_sampled sampled;
	u64 period, count;
	int err;

	VERIFIES(test, "DRC-054", "DRC-076");
	if (!has_interrupt(test))
		return;
	period = short_period(test);
	if (!period || !open_sampling(test, period, &sampled))
		return;
	err = perf_event_refresh(sampled.event, LIMIT);
	KUNIT_EXPECT_TRUE_MSG(test, !err, "perf_event_refresh: %d", err);
	dut_await(dut, &sampled, LIMIT);
	count = local64_read(&sampled.event->count);
	dut_wait(dut, NSEC_PER_MSEC);
	KUNIT_EXPECT_TRUE_MSG(test, sampled.samples == LIMIT, "%llu samples, of %u",
			      sampled.samples, LIMIT);
	/* The event can be enabled again. */
	err = perf_event_refresh(sampled.event, 1);
	KUNIT_EXPECT_TRUE_MSG(test, !err, "perf_event_refresh: %d", err);
	dut_await(dut, &sampled, LIMIT + 1);
	KUNIT_EXPECT_TRUE_MSG(test, sampled.samples == LIMIT + 1, "%llu samples, of %u",
			      sampled.samples, LIMIT + 1);
	perf_event_disable(sampled.event);
	KUNIT_EXPECT_TRUE_MSG(test, local64_read(&sampled.event->count) > count,
			      "it does not count any more");
	perf_event_release_kernel(sampled.event);
}

void pmu_contract_new_period_takes_effect_on_a_running_event(struct kunit *test)
{
	struct dut *dut = test->priv;
	struct dut_sampled sampled;
	u64 period;
	bool came;
	int err;

	VERIFIES(test, "DRC-068", "DRC-069");
	/* PMUs of perf itself end the old period first. contract_has_state() skips them. */
	if (!has_interrupt(test) || !contract_has_state(test))
		return;
	period = short_period(test);
	if (!period || !open_sampling(test, LONG, &sampled))
		return;
	perf_event_enable(sampled.event);
	sampled.period = period;
	err = perf_event_period(sampled.event, period);
	came = dut_await(dut, &sampled, SAMPLES);
	perf_event_disable(sampled.event);
	KUNIT_EXPECT_TRUE_MSG(test, !err, "perf_event_period: %d", err);
	KUNIT_EXPECT_TRUE_MSG(test, err || came, "%llu samples of %llu in a second",
			      sampled.samples, period);
	KUNIT_EXPECT_TRUE_MSG(test, err || !sampled.wrong_period,
			      "a sample of %llu, where each is of %llu",
			      sampled.wrong_period, period);
	perf_event_release_kernel(sampled.event);
}

/* The count and the rest of the period must add up to the period. */
static void expect_period_sum(struct kunit *test, unsigned int i, const char *when)
{
	const struct dut *dut = test->priv;
	const u64 count = dut_count(dut, i);
	const s64 left = local64_read(&dut->events[i]->hw.period_left);

	KUNIT_EXPECT_TRUE_MSG(test, left + count == LONG,
			      "%s: it has counted %llu, and %lld of %llu are left", when, count,
			      left, LONG);
}

void pmu_contract_counting_reduces_period_left(struct kunit *test)
{
	struct dut *dut = test->priv;
	const unsigned int i = dut->n_events;
	struct perf_event_attr attr = dut->attr;

	VERIFIES(test, "DRC-053", "DRC-058", "DRC-065", "DRV-010", "DRV-012");
	if (!has_interrupt(test) || !contract_has_state(test) || !contract_begin(test))
		return;
	dut_del(dut, FIRST);
	attr.sample_period = LONG;
	if (!dut_open_attr(dut, &attr)) {
		kunit_mark_skipped(test, "an event with the period %llu is refused", LONG);
		return;
	}
	if (dut_add(dut, i, PERF_EF_START)) {
		KUNIT_EXPECT_TRUE_MSG(test, false, "it cannot be added");
		return;
	}
	KUNIT_EXPECT_TRUE_MSG(test, dut_event_counts(dut, i), "it does not count");
	dut_stop(dut, i, PERF_EF_UPDATE);
	expect_period_sum(test, i, "stopped");
	dut_start(dut, i, PERF_EF_RELOAD);
	KUNIT_EXPECT_TRUE_MSG(test, dut_event_counts(dut, i), "started, it does not count");
	dut_stop(dut, i, PERF_EF_UPDATE);
	expect_period_sum(test, i, "stopped again");
	dut_start(dut, i, 0);
	KUNIT_EXPECT_TRUE_MSG(test, dut_event_counts(dut, i), "going on, it does not count");
	dut_del(dut, i);
	expect_period_sum(test, i, "deleted");
}
