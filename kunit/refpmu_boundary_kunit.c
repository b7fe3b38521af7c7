// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of the fields of an event's hw: they are correct before and after every callback. */
#include "compat.h"
#include "core_pmu/irq.h"
#include "core_pmu/pmu.h"
#include "rig.h"

#define SETTLED (PERF_HES_STOPPED | PERF_HES_UPTODATE)
#define PERIOD 100

/* State of the observed callbacks. The first error is reported when interrupts are on again. */
static struct {
	unsigned int calls[5];
	const char *wrong;
} watch;

enum { CALL_ADD, CALL_DEL, CALL_START, CALL_STOP, CALL_READ };

static void require(bool condition, const char *what)
{
	if (!condition && !watch.wrong)
		watch.wrong = what;
}

static int flags_of(const struct perf_event *event)
{
	return event->hw.state & SETTLED;
}

/* perf reads an event while the PMU is on. Newer kernels also stop it, in its overflow handler. */
static bool may_be_on(unsigned int call)
{
	return call == CALL_READ ||
	       (call == CALL_STOP && COMPAT_STOPS_AT_LIMIT && rig_cpu()->in_handler);
}

static void check_entry(const struct perf_event *event, unsigned int call)
{
	watch.calls[call]++;
	require(irqs_disabled(), "interrupts are off");
	require(may_be_on(call) || rig_cpu()->disable_depth, "the PMU is off");
	require(event->hw.idx < 0 || flags_of(event) != PERF_HES_UPTODATE,
		"only a stopped event is up to date");
}

static int watched_add(struct perf_event *event, int flags)
{
	int err;

	check_entry(event, CALL_ADD);
	err = refpmu_pmu_ops.add(event, flags);
	if (!err && event->hw.idx >= 0)
		require(flags_of(event) == (flags & PERF_EF_START ? 0 : SETTLED),
			"an added event runs or has stopped, as asked");
	return err;
}

static void watched_del(struct perf_event *event, int flags)
{
	check_entry(event, CALL_DEL);
	refpmu_pmu_ops.del(event, flags);
	require(flags_of(event) == SETTLED, "a deleted event is settled");
	require(event->hw.idx == -1, "a deleted event has no counter");
}

static void watched_start(struct perf_event *event, int flags)
{
	check_entry(event, CALL_START);
	require(!(flags & PERF_EF_RELOAD) || event->hw.state & PERF_HES_UPTODATE,
		"only a folded event is reloaded");
	refpmu_pmu_ops.start(event, flags);
	require(!flags_of(event), "a started event is neither stopped nor up to date");
}

static void watched_stop(struct perf_event *event, int flags)
{
	const int before = flags_of(event);

	check_entry(event, CALL_STOP);
	refpmu_pmu_ops.stop(event, flags);
	require(event->hw.state & PERF_HES_STOPPED, "a stopped event says so");
	require(!(flags & PERF_EF_UPDATE) || flags_of(event) == SETTLED,
		"a stop with an update folds");
	require(flags & PERF_EF_UPDATE || before & PERF_HES_UPTODATE ||
		!(event->hw.state & PERF_HES_UPTODATE), "what is not folded is not up to date");
}

static void watched_read(struct perf_event *event)
{
	const bool settled = event->hw.state & PERF_HES_UPTODATE;
	const u64 count = rig_count(event);
	const int flags = flags_of(event);

	check_entry(event, CALL_READ);
	refpmu_pmu_ops.read(event);
	require(!settled || rig_count(event) == count, "what is up to date has nothing new");
	require(flags_of(event) == flags, "a read changes no state");
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

static void hw_state_is_correct_while_an_event_counts(struct kunit *test)
{
	struct perf_event *event = rig_open_pulsed(test);
	u64 enabled, running;
	unsigned int i;

	VERIFIES(test, "DRV-037", "DRC-051");
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

static void hw_state_is_correct_while_periods_change(struct kunit *test)
{
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, PERIOD);

	VERIFIES(test, "DRV-037", "DRC-051", "DRC-053");
	perf_event_enable(event);
	rig_pulse(test, RIG_PULSED, 3 * PERIOD + 7);
	KUNIT_ASSERT_EQ(test, perf_event_period(event, 2 * PERIOD), 0);
	rig_pulse(test, RIG_PULSED, PERIOD);
	/* The overflow handler stops the event. */
	atomic_set(&event->event_limit, 1);
	rig_pulse(test, RIG_PULSED, PERIOD);
	perf_event_disable(event);
	expect_watched(test, CALL_START);
	expect_watched(test, CALL_STOP);
	expect_watched(test, CALL_DEL);
}

static void hw_state_is_correct_for_every_order_of_calls(struct kunit *test)
{
	static const int flags[] = { 0, PERF_EF_UPDATE };
	struct perf_event *event = rig_open_pulsed(test);
	unsigned int i, settled;

	VERIFIES(test, "DRC-051", "DRC-052", "DRC-053", "DRC-062", "DRV-037");
	local_irq_disable();
	/* Two stops of either type, and a start that fits the resulting state. */
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
	/* One event after each start, and one before the stop if the event was added started. */
	KUNIT_EXPECT_EQ(test, rig_count(event), 24ULL);
}

enum boundary_op {
	DO_ADD,
	DO_ADD_OFF,
	DO_DEL,
	DO_STOP,
	DO_STALL, /* stop without an update */
	DO_START,
	DO_GO_ON, /* start without a reload */
	DO_READ,
	DO_SERVE, /* the overflow handler */
};

/* An operation on an event, and the number of events that happen after it. */
struct boundary_step {
	enum boundary_op op;
	unsigned int ticks;
};

/* Expected state of a sampling event. */
struct boundary_expected {
	bool placed;
	bool counts;
	bool folded; /* no event has happened since the last fold */
	bool reloaded; /* no event has happened since the last reload */
	u64 waiting; /* events in the counter that are not folded yet */
	u64 count;
	s64 left;
};

static void fold(struct boundary_expected *expected)
{
	expected->reloaded &= !expected->waiting;
	expected->count += expected->waiting;
	expected->left -= expected->waiting;
	expected->waiting = 0;
	expected->folded = true;
}

static void reload(struct boundary_expected *expected)
{
	if (expected->left <= 0)
		expected->left += PERIOD;
	expected->reloaded = true;
}

static void step_expected(struct boundary_expected *expected, enum boundary_op op)
{
	switch (op) {
	case DO_ADD:
	case DO_ADD_OFF:
		expected->placed = true;
		break;
	case DO_DEL:
	case DO_STOP:
	case DO_READ:
	case DO_SERVE:
		fold(expected);
		break;
	default:
		break;
	}
	if (op == DO_ADD || op == DO_START || op == DO_SERVE)
		reload(expected);
	if (op == DO_DEL)
		expected->placed = false;
	if (op == DO_ADD || op == DO_START || op == DO_GO_ON)
		expected->counts = true;
	if (op == DO_DEL || op == DO_STOP || op == DO_STALL)
		expected->counts = false;
}

static void step_event(struct perf_event *event, enum boundary_op op)
{
	switch (op) {
	case DO_ADD:
		rig_add(event, PERF_EF_START);
		break;
	case DO_ADD_OFF:
		rig_add(event, 0);
		break;
	case DO_DEL:
		rig_del(event);
		break;
	case DO_STOP:
		rig_stop(event, PERF_EF_UPDATE);
		break;
	case DO_STALL:
		rig_stop(event, 0);
		break;
	case DO_START:
		rig_start(event, PERF_EF_RELOAD);
		break;
	case DO_GO_ON:
		rig_start(event, 0);
		break;
	case DO_READ:
		rig_read(event);
		break;
	case DO_SERVE:
		refpmu_irq(rig_cpu());
		break;
	}
}

/* Return the name of a field that differs from the expected state; "" if there is none. */
static const char *differs(const struct perf_event *event, const struct boundary_expected *expected)
{
	const u64 mask = refpmu_low_bits(rig_device->params.width);
	const struct hw_perf_event *hwc = &event->hw;
	u64 value;

	if (expected->placed != !(hwc->idx < 0))
		return "hw.idx";
	if (!(hwc->state & PERF_HES_STOPPED) != expected->counts)
		return "hw.state";
	if (rig_count(event) != expected->count)
		return "count";
	if (local64_read(&hwc->period_left) != expected->left)
		return "period_left";
	if (hwc->last_period != PERIOD)
		return "last_period";
	if (!expected->placed || !expected->folded)
		return "";
	value = rig_reg(REFPMU_REG_PMC(hwc->idx));
	if ((value ^ local64_read(&hwc->prev_count)) & mask)
		return "prev_count";
	if (expected->reloaded && ((value + expected->left) & mask))
		return "the distance to the next overflow";
	return "";
}

static void count_and_period_are_exact_after_every_call(struct kunit *test)
{
	static const struct boundary_step script[] = {
		{ DO_ADD, 30 }, { DO_READ, 0 }, { DO_READ, 5 }, { DO_STOP, 7 }, { DO_STOP, 0 },
		{ DO_READ, 3 }, { DO_START, 20 }, { DO_STALL, 9 }, { DO_GO_ON, 11 },
		{ DO_STALL, 0 }, { DO_STOP, 4 }, { DO_START, 60 }, { DO_SERVE, 0 },
		{ DO_READ, 8 }, { DO_DEL, 6 }, { DO_ADD_OFF, 12 }, { DO_START, 40 },
		{ DO_DEL, 0 }, { DO_ADD, 95 }, { DO_SERVE, 1 }, { DO_STOP, 0 },
		{ DO_GO_ON, 2 }, { DO_READ, 0 }, { DO_DEL, 0 },
	};
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, PERIOD);
	struct boundary_expected expected = { .left = PERIOD };
	const char *wrong = "";
	unsigned int i;

	VERIFIES(test, "DRC-053", "DRC-065", "DRC-066", "DRV-010", "DRV-022", "DRV-037");
	local_irq_disable();
	for (i = 0; i < ARRAY_SIZE(script); i++) {
		step_expected(&expected, script[i].op);
		step_event(event, script[i].op);
		wrong = differs(event, &expected);
		if (*wrong)
			break;
		expected.waiting += expected.counts ? script[i].ticks : 0;
		expected.folded &= !expected.counts || !script[i].ticks;
		rig_tick(RIG_PULSED, script[i].ticks);
	}
	if (*wrong && event->hw.idx >= 0)
		rig_del(event);
	local_irq_enable();
	KUNIT_EXPECT_STREQ_MSG(test, wrong, "", "after step %u: count %llu, left %lld", i,
			       rig_count(event), (s64)local64_read(&event->hw.period_left));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(hw_state_is_correct_while_an_event_counts),
	KUNIT_CASE(hw_state_is_correct_while_periods_change),
	KUNIT_CASE(hw_state_is_correct_for_every_order_of_calls),
	KUNIT_CASE(count_and_period_are_exact_after_every_call),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_boundary",
	.init = boundary_init,
	.exit = boundary_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
