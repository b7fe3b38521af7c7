// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of the flags of hw.state: true before and after every callback that perf makes. */
#include "rig.h"

#define SETTLED (PERF_HES_STOPPED | PERF_HES_UPTODATE)
#define PERIOD 100

/* Callbacks are watched, and what was wrong is named when interrupts are on again. */
static struct {
	unsigned int calls[5];
	const char *wrong;
} watch;

enum { CALL_ADD, CALL_DEL, CALL_START, CALL_STOP, CALL_READ };

static void want(bool held, const char *what)
{
	if (!held && !watch.wrong)
		watch.wrong = what;
}

static int flags_of(const struct perf_event *event)
{
	return event->hw.state & SETTLED;
}

static void enter(const struct perf_event *event, unsigned int call)
{
	watch.calls[call]++;
	want(irqs_disabled(), "interrupts are off");
	want(call == CALL_READ || rig_cpu()->disable_depth, "the PMU is off");
	want(event->hw.idx < 0 || flags_of(event) != PERF_HES_UPTODATE,
	     "only a stopped event is up to date");
}

static int watched_add(struct perf_event *event, int flags)
{
	int err;

	enter(event, CALL_ADD);
	err = refpmu_pmu_ops.add(event, flags);
	if (!err && event->hw.idx >= 0)
		want(flags_of(event) == (flags & PERF_EF_START ? 0 : SETTLED),
		     "an added event runs or has stopped, as asked");
	return err;
}

static void watched_del(struct perf_event *event, int flags)
{
	enter(event, CALL_DEL);
	refpmu_pmu_ops.del(event, flags);
	want(flags_of(event) == SETTLED, "a deleted event is settled");
	want(event->hw.idx == -1, "a deleted event has no counter");
}

static void watched_start(struct perf_event *event, int flags)
{
	enter(event, CALL_START);
	want(!(flags & PERF_EF_RELOAD) || event->hw.state & PERF_HES_UPTODATE,
	     "only a folded event is reloaded");
	refpmu_pmu_ops.start(event, flags);
	want(!flags_of(event), "a started event is neither stopped nor up to date");
}

static void watched_stop(struct perf_event *event, int flags)
{
	const int before = flags_of(event);

	enter(event, CALL_STOP);
	refpmu_pmu_ops.stop(event, flags);
	want(event->hw.state & PERF_HES_STOPPED, "a stopped event says so");
	want(!(flags & PERF_EF_UPDATE) || flags_of(event) == SETTLED,
	     "a stop with an update folds");
	want(flags & PERF_EF_UPDATE || before & PERF_HES_UPTODATE ||
	     !(event->hw.state & PERF_HES_UPTODATE), "what is not folded is not up to date");
}

static void watched_read(struct perf_event *event)
{
	const bool settled = event->hw.state & PERF_HES_UPTODATE;
	const u64 count = rig_count(event);
	const int flags = flags_of(event);

	enter(event, CALL_READ);
	refpmu_pmu_ops.read(event);
	want(!settled || rig_count(event) == count, "what is up to date has nothing new");
	want(flags_of(event) == flags, "a read changes no state");
}

static int boundary_init(struct kunit *test)
{
	struct pmu *pmu = &rig_device->pmu;

	memset(&watch, 0, sizeof(watch));
	pmu->add = watched_add;
	pmu->del = watched_del;
	pmu->start = watched_start;
	pmu->stop = watched_stop;
	pmu->read = watched_read;
	return rig_init(test);
}

static void boundary_exit(struct kunit *test)
{
	struct pmu *pmu = &rig_device->pmu;

	rig_exit(test);
	pmu->add = refpmu_pmu_ops.add;
	pmu->del = refpmu_pmu_ops.del;
	pmu->start = refpmu_pmu_ops.start;
	pmu->stop = refpmu_pmu_ops.stop;
	pmu->read = refpmu_pmu_ops.read;
}

static void expect_watched(struct kunit *test, unsigned int call)
{
	KUNIT_EXPECT_GT_MSG(test, watch.calls[call], 0U, "call %u was not made", call);
	KUNIT_EXPECT_STREQ(test, watch.wrong ?: "", "");
}

static void flags_are_true_while_an_event_counts(struct kunit *test)
{
	struct perf_event *event = rig_open_pulsed(test);
	u64 enabled, running;
	unsigned int i;

	KEEPS(test, "DRV-037", "DRC-051");
	for (i = 0; i < 3; i++) {
		perf_event_enable(event);
		rig_pulse(test, RIG_PULSED, 10);
		perf_event_read_value(event, &enabled, &running);
		perf_event_disable(event);
	}
	expect_watched(test, CALL_ADD);
	expect_watched(test, CALL_READ);
	expect_watched(test, CALL_DEL);
	KUNIT_EXPECT_EQ(test, rig_count(event), 30ULL);
}

static void flags_are_true_while_periods_change(struct kunit *test)
{
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, PERIOD);

	KEEPS(test, "DRV-037", "DRC-051", "DRC-053");
	perf_event_enable(event);
	rig_pulse(test, RIG_PULSED, 3 * PERIOD + 7);
	KUNIT_ASSERT_EQ(test, perf_event_period(event, 2 * PERIOD), 0);
	rig_pulse(test, RIG_PULSED, PERIOD);
	/* The overflow handler stops it. */
	atomic_set(&event->event_limit, 1);
	rig_pulse(test, RIG_PULSED, PERIOD);
	perf_event_disable(event);
	expect_watched(test, CALL_START);
	expect_watched(test, CALL_STOP);
	expect_watched(test, CALL_DEL);
}

static void flags_are_true_in_every_order(struct kunit *test)
{
	static const int flags[] = { 0, PERF_EF_UPDATE };
	struct perf_event *event = rig_open_pulsed(test);
	unsigned int i, settled;

	KEEPS(test, "DRC-051", "DRC-052", "DRC-053", "DRC-062", "DRV-037");
	local_irq_disable();
	/* Two stops of either kind, and a start that fits what they left. */
	for (i = 0; i < 16; i++) {
		rig_add(event, i & 8 ? PERF_EF_START : 0);
		rig_tick(RIG_PULSED, 1);
		rig_stop(event, flags[i & 1]);
		rig_read(event);
		rig_stop(event, flags[(i >> 1) & 1]);
		settled = event->hw.state & PERF_HES_UPTODATE;
		rig_start(event, i & 4 && settled ? PERF_EF_RELOAD : 0);
		rig_tick(RIG_PULSED, 1);
		rig_read(event);
		rig_del(event);
	}
	local_irq_enable();
	expect_watched(test, CALL_STOP);
	/* One each after the start, and one before the stop where it was added running. */
	KUNIT_EXPECT_EQ(test, rig_count(event), 24ULL);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(flags_are_true_while_an_event_counts),
	KUNIT_CASE(flags_are_true_while_periods_change),
	KUNIT_CASE(flags_are_true_in_every_order),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_boundary",
	.init = boundary_init,
	.exit = boundary_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
