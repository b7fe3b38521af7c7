// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of the guarantees of perf to a driver: how it calls the callbacks of an open event.
 */
/* Longer than 500 lines: one suite, whose cases share the recorder and the checks of its calls. */
#include <linux/ktime.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "compat/compat.h"
#include "recorder.h"

#define THROTTLED (~0ULL) /* hw.interrupts of a throttled event */
#define PERIOD 1000

static struct perf_event *open_period(struct kunit *test, u64 period)
{
	struct recorder *recorder = test->priv;
	struct perf_event_attr attr;

	recorder_register(test);
	attr = recorder_attr(recorder);
	attr.sample_period = period;
	return recorder_open(test, &attr);
}

/*
 * Expect the context that perf guarantees for most callbacks: the event's CPU, interrupts off, PMU
 * disabled.
 */
static void expect_perf_context(struct kunit *test, enum recorder_callback what)
{
	const struct recorder_call call = recorder_last(test, what);

	KUNIT_EXPECT_TRUE_MSG(test, call.irqs_off, "call %d", what);
	KUNIT_EXPECT_TRUE_MSG(test, call.pmu_off, "call %d", what);
	KUNIT_EXPECT_EQ_MSG(test, call.cpu, RECORDER_CPU, "call %d", what);
}

static void perf_disables_the_pmu_around_add_and_del(struct kunit *test)
{
	struct perf_event *event = open_period(test, 0);

	VERIFIES(test, "DRC-044", "DRC-047", "DRV-001");
	/* The CPU that enables the event does not matter. */
	if (cpu_online(RECORDER_CPU + 1))
		set_cpus_allowed_ptr(current, cpumask_of(RECORDER_CPU + 1));
	perf_event_enable(event);
	expect_perf_context(test, RECORDER_ADD);
	KUNIT_EXPECT_TRUE(test, recorder_last(test, RECORDER_ADD).flags & PERF_EF_START);
	perf_event_disable(event);
	expect_perf_context(test, RECORDER_DEL);
	KUNIT_EXPECT_EQ(test, recorder_count(test->priv, RECORDER_ENABLE),
			recorder_count(test->priv, RECORDER_DISABLE));
}

static void new_period_stops_and_starts_the_event(struct kunit *test)
{
	struct perf_event *event = open_period(test, PERIOD);
	struct recorder *recorder = test->priv;

	VERIFIES(test, "CTL-015", "DRC-057", "DRC-068", "DRV-002", "DRV-010");
	perf_event_enable(event);
	recorder_clear(recorder);
	KUNIT_ASSERT_EQ(test, perf_event_period(event, 50), 0);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 50ULL);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_STOP), 1U);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_START), 1U);
	expect_perf_context(test, RECORDER_STOP);
	expect_perf_context(test, RECORDER_START);
	KUNIT_EXPECT_EQ(test, recorder_last(test, RECORDER_STOP).flags, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, recorder_last(test, RECORDER_START).flags, PERF_EF_RELOAD);
	/* period_left of the old period is cleared. */
	KUNIT_EXPECT_EQ(test, recorder_last(test, RECORDER_START).value, 0ULL);
}

static void new_period_ends_a_throttle(struct kunit *test)
{
	struct perf_event *event = open_period(test, PERIOD);

	VERIFIES(test, "CTL-017", "DRC-068");
	perf_event_enable(event);
	recorder_clear(test->priv);
	local_irq_disable();
	event->hw.interrupts = THROTTLED;
	event->pmu->stop(event, 0);
	local_irq_enable();
	KUNIT_ASSERT_EQ(test, perf_event_period(event, 50), 0);
	KUNIT_EXPECT_NE(test, event->hw.interrupts, THROTTLED);
	KUNIT_EXPECT_EQ(test, recorder_last(test, RECORDER_START).flags, PERF_EF_RELOAD);
	KUNIT_EXPECT_EQ(test, event->hw.state, 0);
}

static void event_is_added_again_after_a_failed_add(struct kunit *test)
{
	static const int errors[] = { -EAGAIN, -EIO, 1 };
	struct perf_event *event = open_period(test, 0);
	struct recorder *recorder = test->priv;
	u64 enabled, running;
	unsigned int i;

	VERIFIES(test, "DRC-045");
	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		recorder->add_error = errors[i];
		perf_event_enable(event);
		expect_perf_context(test, RECORDER_ADD);
		KUNIT_EXPECT_EQ(test, (int)event->state, (int)PERF_EVENT_STATE_INACTIVE);
		perf_event_read_value(event, &enabled, &running);
		KUNIT_EXPECT_EQ(test, running, 0ULL);
		perf_event_disable(event);
	}
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_DEL), 0U);
	recorder->add_error = 0;
	perf_event_enable(event);
	KUNIT_EXPECT_EQ(test, (int)event->state, (int)PERF_EVENT_STATE_ACTIVE);
}

static void failed_add_puts_a_pinned_event_in_error_state(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct perf_event_attr attr;
	struct perf_event *event;

	VERIFIES(test, "DRC-095", "MUX-006");
	recorder_register(test);
	recorder->add_error = -EAGAIN;
	attr = recorder_attr(recorder);
	attr.pinned = 1;
	event = recorder_open(test, &attr);
	perf_event_enable(event);
	KUNIT_EXPECT_EQ(test, (int)event->state, (int)PERF_EVENT_STATE_ERROR);
	recorder->add_error = 0;
	perf_event_enable(event);
	KUNIT_EXPECT_EQ(test, (int)event->state, (int)PERF_EVENT_STATE_ACTIVE);
}

static void throttle_ends_before_the_next_add(struct kunit *test)
{
	struct perf_event *event = open_period(test, PERIOD);

	VERIFIES(test, "DRC-056", "THR-005");
	perf_event_enable(event);
	event->hw.interrupts = THROTTLED;
	perf_event_disable(event);
	recorder_clear(test->priv);
	perf_event_enable(event);
	KUNIT_EXPECT_EQ(test, recorder_last(test, RECORDER_ADD).value, 0ULL);
	KUNIT_EXPECT_EQ(test, recorder_count(test->priv, RECORDER_START), 0U);
}

/* Wait until perf has called @what. Return false after a timeout. Interrupts on. */
static bool wait_for_call(const struct recorder *recorder, enum recorder_callback what)
{
	const u64 deadline = ktime_get_ns() + NSEC_PER_SEC;

	while (!recorder_count(recorder, what)) {
		if (ktime_get_ns() > deadline)
			return false;
		cpu_relax();
	}
	return true;
}

static void tick_starts_a_throttled_event(struct kunit *test)
{
	struct perf_event *event = open_period(test, PERIOD);
	unsigned int overflows = 0, stops;
	u64 interrupts;
	bool stop;

	VERIFIES(test, "DRC-055", "DRV-011");
	perf_event_enable(event);
	recorder_clear(test->priv);
	local_irq_disable();
	/*
	 * No tick happens meanwhile, so perf throttles the event after a certain number of
	 * overflows.
	 */
	do {
		stop = recorder_overflow(event);
	} while (!stop && ++overflows < 1000000);
	interrupts = event->hw.interrupts;
	stops = recorder_count(test->priv, RECORDER_STOP);
	perf_pmu_disable(event->pmu);
	event->pmu->stop(event, 0);
	perf_pmu_enable(event->pmu);
	local_irq_enable();

	KUNIT_EXPECT_TRUE(test, stop);
	KUNIT_EXPECT_EQ(test, interrupts, THROTTLED);
	KUNIT_EXPECT_EQ(test, stops, (unsigned int)COMPAT_THROTTLES_GROUPS);
	KUNIT_ASSERT_TRUE(test, wait_for_call(test->priv, RECORDER_START));
	expect_perf_context(test, RECORDER_START);
	KUNIT_EXPECT_EQ(test, recorder_last(test, RECORDER_START).flags, 0);
	KUNIT_EXPECT_NE(test, event->hw.interrupts, THROTTLED);
}

/* Make @member a member of the group of @leader, or take it out. Interrupts off. */
static void join_group(struct perf_event *member, struct perf_event *leader)
{
	member->group_leader = leader;
	list_add_tail(&member->sibling_list, &leader->sibling_list);
}

static void leave_group(struct perf_event *member)
{
	list_del_init(&member->sibling_list);
	member->group_leader = member;
}

/* The member only counts, and its leader is throttled. */
static void throttle_stops_and_starts_every_member(struct kunit *test)
{
	struct perf_event *leader = open_period(test, PERIOD);
	struct recorder *recorder = test->priv;
	struct perf_event_attr attr = recorder_attr(recorder);
	struct perf_event *member = recorder_open(test, &attr);
	unsigned int overflows = 0, stops;
	int state;

	VERIFIES(test, "DRC-055", "DRV-011");
	if (!COMPAT_THROTTLES_GROUPS) {
		kunit_mark_skipped(test, "perf throttles only the event that overflows");
		return;
	}
	perf_event_enable(leader);
	perf_event_enable(member);
	recorder_clear(recorder);
	local_irq_disable();
	join_group(member, leader);
	while (!recorder_overflow(leader) && ++overflows < 1000000)
		;
	stops = recorder_count(recorder, RECORDER_STOP);
	state = member->hw.state;
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, stops, 2U);
	KUNIT_EXPECT_EQ(test, recorder_last(test, RECORDER_STOP).flags, 0);
	/* The tick starts them in a row, with interrupts off. */
	KUNIT_EXPECT_TRUE(test, wait_for_call(recorder, RECORDER_START));
	local_irq_disable();
	leave_group(member);
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, state, PERF_HES_STOPPED);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_START), 2U);
	KUNIT_EXPECT_EQ(test, recorder_last(test, RECORDER_START).flags, 0);
	expect_perf_context(test, RECORDER_START);
	KUNIT_EXPECT_EQ(test, member->hw.state, 0);
}

static void only_active_events_are_read(struct kunit *test)
{
	struct perf_event *event = open_period(test, 0);
	struct recorder *recorder = test->priv;
	u64 enabled, running;

	VERIFIES(test, "DRC-058", "DRC-060");
	perf_event_read_value(event, &enabled, &running);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_READ), 0U);
	perf_event_enable(event);
	perf_event_read_value(event, &enabled, &running);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_READ), 1U);
	KUNIT_EXPECT_TRUE(test, recorder_last(test, RECORDER_READ).irqs_off);
	KUNIT_EXPECT_EQ(test, recorder_last(test, RECORDER_READ).cpu, RECORDER_CPU);
	/*
	 * An active event need not be running: perf also reads an event that is throttled and thus
	 * stopped.
	 */
	local_irq_disable();
	event->pmu->stop(event, PERF_EF_UPDATE);
	local_irq_enable();
	perf_event_read_value(event, &enabled, &running);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_READ), 2U);
	perf_event_disable(event);
	perf_event_read_value(event, &enabled, &running);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_READ), 2U);
}

static void perf_calls_check_period_for_new_periods(struct kunit *test)
{
	struct perf_event *event = open_period(test, PERIOD);
	struct recorder *recorder = test->priv;
	struct perf_event_attr attr = recorder_attr(recorder);
	struct perf_event *frequent;

	VERIFIES(test, "DRC-070", "CTL-018");
	KUNIT_EXPECT_EQ(test, perf_event_period(event, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_CHECK_PERIOD), 0U);
	KUNIT_EXPECT_EQ(test, perf_event_period(event, BIT_ULL(63)), -EINVAL);
	KUNIT_EXPECT_EQ(test, perf_event_period(event, 77), 0);
	KUNIT_EXPECT_EQ(test, recorder_last(test, RECORDER_CHECK_PERIOD).value, 77ULL);
	recorder->period_error = -EBUSY;
	KUNIT_EXPECT_EQ(test, perf_event_period(event, 78), -EINVAL);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 77ULL);

	attr.freq = 1;
	attr.sample_freq = 100;
	frequent = recorder_open(test, &attr);
	recorder_clear(recorder);
	KUNIT_EXPECT_EQ(test, perf_event_period(frequent, 200), 0);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_CHECK_PERIOD), 0U);
}

static void nested_disables_do_not_reach_the_driver(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	unsigned int inner;

	VERIFIES(test, "DRC-080", "DRV-003");
	recorder_register(test);
	local_irq_disable();
	perf_pmu_disable(&recorder->pmu);
	perf_pmu_disable(&recorder->pmu);
	perf_pmu_enable(&recorder->pmu);
	inner = recorder_count(recorder, RECORDER_ENABLE);
	perf_pmu_enable(&recorder->pmu);
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, inner, 0U);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_ENABLE), 1U);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_DISABLE), 1U);
}

static void last_overflow_of_a_limit_stops_the_event(struct kunit *test)
{
	struct perf_event *event = open_period(test, PERIOD);
	struct recorder *recorder = test->priv;
	unsigned int early, stops;
	int first, last;

	VERIFIES(test, "DRC-076");
	/* State after PERF_EVENT_IOC_REFRESH. */
	atomic_set(&event->event_limit, 2);
	perf_event_enable(event);
	local_irq_disable();
	first = recorder_overflow(event);
	early = recorder_count(recorder, RECORDER_STOP);
	last = recorder_overflow(event);
	stops = recorder_count(recorder, RECORDER_STOP);
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, first, 0);
	KUNIT_EXPECT_NE(test, last, 0);
	KUNIT_EXPECT_EQ(test, early, 0U);
	KUNIT_EXPECT_EQ(test, stops, (unsigned int)COMPAT_STOPS_AT_LIMIT);
	if (stops)
		KUNIT_EXPECT_EQ(test, recorder_last(test, RECORDER_STOP).flags, 0);
	/* perf disables the event after the interrupt. */
	KUNIT_ASSERT_TRUE(test, wait_for_call(test->priv, RECORDER_DEL));
	expect_perf_context(test, RECORDER_DEL);
	KUNIT_EXPECT_EQ(test, (int)READ_ONCE(event->state), (int)PERF_EVENT_STATE_OFF);
}

static void overflow_of_a_counting_event_has_no_effect(struct kunit *test)
{
	struct perf_event *event = open_period(test, 0);
	unsigned int i, stops = 0;

	VERIFIES(test, "DRC-071");
	perf_event_enable(event);
	local_irq_disable();
	for (i = 0; i < 100000; i++)
		stops += recorder_overflow(event) != 0;
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, stops, 0U);
	KUNIT_EXPECT_EQ(test, event->hw.interrupts, 0ULL);
}

static unsigned int syncs;

static void count_syncs(struct perf_event *event)
{
	syncs++;
}

static void start_applies_address_filters_once(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct perf_event *event;
	unsigned int first, again;

	VERIFIES(test, "DRC-103");
	recorder->pmu.nr_addr_filters = 1;
	recorder->pmu.addr_filters_sync = count_syncs;
	event = open_period(test, 0);
	syncs = 0;
	local_irq_disable();
	/*
	 * A start calls this function while user space may set filters at the same time. The
	 * filters that were set last must be in effect, whichever comes first.
	 */
	event->addr_filters_gen++;
	perf_event_addr_filters_sync(event);
	first = syncs;
	perf_event_addr_filters_sync(event);
	again = syncs;
	event->addr_filters_gen++;
	perf_event_addr_filters_sync(event);
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, first, 1U);
	KUNIT_EXPECT_EQ(test, again, 1U);
	KUNIT_EXPECT_EQ(test, syncs, 2U);
}

#ifdef PERF_PMU_CAP_HETEROGENEOUS_CPUS
static int run_on_no_cpu(struct perf_event *event)
{
	return 0;
}

static int run_on_every_cpu(struct perf_event *event)
{
	return 1;
}

#define FILTER filter_match
#else
static bool run_on_no_cpu(struct pmu *pmu, int cpu)
{
	return true;
}

static bool run_on_every_cpu(struct pmu *pmu, int cpu)
{
	return false;
}

#define FILTER filter
#endif

static void filter_keeps_an_event_off_a_cpu(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct perf_event *event;

	VERIFIES(test, "DRC-090", "DRV-026");
	recorder->pmu.FILTER = run_on_no_cpu;
	event = open_period(test, 0);
	perf_event_enable(event);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_ADD), 0U);
	KUNIT_EXPECT_EQ(test, (int)event->state, (int)PERF_EVENT_STATE_INACTIVE);
	perf_event_disable(event);
	recorder->pmu.FILTER = run_on_every_cpu;
	perf_event_enable(event);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_ADD), 1U);
	KUNIT_EXPECT_EQ(test, (int)event->state, (int)PERF_EVENT_STATE_ACTIVE);
}

static void events_migrate_by_del_and_add(struct kunit *test)
{
	struct perf_event *event = open_period(test, 0);
	const int other = RECORDER_CPU + 1;
	struct recorder *recorder = test->priv;
	u64 enabled, running;

	VERIFIES(test, "DRC-092", "DRV-032");
	if (!cpu_online(other))
		kunit_skip(test, "one CPU");
	perf_event_enable(event);
	local64_set(&event->count, 42);
	recorder_clear(recorder);
	perf_pmu_migrate_context(&recorder->pmu, RECORDER_CPU, other);
	KUNIT_EXPECT_EQ(test, event->cpu, other);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_DEL), 1U);
	KUNIT_EXPECT_EQ(test, recorder_last(test, RECORDER_DEL).cpu, RECORDER_CPU);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_ADD), 1U);
	KUNIT_EXPECT_EQ(test, recorder_last(test, RECORDER_ADD).cpu, other);
	KUNIT_EXPECT_TRUE(test, recorder_last(test, RECORDER_ADD).pmu_off);
	KUNIT_EXPECT_EQ(test, perf_event_read_value(event, &enabled, &running), 42ULL);
}

static void do_nothing(struct work_struct *unused)
{
}

/* Switch to another task and back. */
static void switch_tasks(void)
{
	struct work_struct other;

	INIT_WORK_ONSTACK(&other, do_nothing);
	queue_work_on(RECORDER_CPU, system_wq, &other);
	flush_work(&other);
	destroy_work_on_stack(&other);
}

static void request_sched_task(struct recorder *recorder, bool ask)
{
	local_irq_disable();
	if (ask)
		perf_sched_cb_inc(&recorder->pmu);
	else
		perf_sched_cb_dec(&recorder->pmu);
	local_irq_enable();
}

/* on some kernels, the callback's arguments do not identify the PMU */
static struct recorder *switched;

static REFPMU_COMPAT_SCHED_TASK(recorder_sched_task)
{
	struct recorder *recorder = switched;

	if (recorder->n_calls < RECORDER_CALLS)
		recorder->calls[recorder->n_calls++] = (struct recorder_call){
			.what = RECORDER_SCHED_TASK,
			.flags = sched_in,
			.cpu = smp_processor_id(),
			.irqs_off = irqs_disabled(),
			.pmu_off = *compat_disable_count(&recorder->pmu),
		};
}

static void perf_calls_sched_task_only_on_request(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct recorder_call call = { .cpu = -1 };
	unsigned int unasked, asked, later;

	VERIFIES(test, "DRC-040", "DRC-096", "DRV-024");
	switched = recorder;
	recorder->pmu.sched_task = recorder_sched_task;
	perf_event_enable(open_period(test, 0));
	switch_tasks();
	unasked = recorder_count(recorder, RECORDER_SCHED_TASK);
	recorder_clear(recorder);
	request_sched_task(recorder, true);
	switch_tasks();
	request_sched_task(recorder, false);
	asked = recorder_count(recorder, RECORDER_SCHED_TASK);
	if (asked)
		call = recorder_last(test, RECORDER_SCHED_TASK);
	switch_tasks();
	later = recorder_count(recorder, RECORDER_SCHED_TASK);

	KUNIT_EXPECT_EQ(test, unasked, 0U);
	KUNIT_ASSERT_GE(test, asked, 2U);
	KUNIT_EXPECT_EQ(test, later, asked);
	KUNIT_EXPECT_TRUE(test, call.irqs_off);
	KUNIT_EXPECT_TRUE(test, call.pmu_off);
	KUNIT_EXPECT_EQ(test, call.cpu, RECORDER_CPU);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(perf_disables_the_pmu_around_add_and_del),
	KUNIT_CASE(new_period_stops_and_starts_the_event),
	KUNIT_CASE(new_period_ends_a_throttle),
	KUNIT_CASE(event_is_added_again_after_a_failed_add),
	KUNIT_CASE(failed_add_puts_a_pinned_event_in_error_state),
	KUNIT_CASE(throttle_ends_before_the_next_add),
	KUNIT_CASE(tick_starts_a_throttled_event),
	KUNIT_CASE(throttle_stops_and_starts_every_member),
	KUNIT_CASE(only_active_events_are_read),
	KUNIT_CASE(perf_calls_check_period_for_new_periods),
	KUNIT_CASE(nested_disables_do_not_reach_the_driver),
	KUNIT_CASE(last_overflow_of_a_limit_stops_the_event),
	KUNIT_CASE(overflow_of_a_counting_event_has_no_effect),
	KUNIT_CASE(start_applies_address_filters_once),
	KUNIT_CASE(filter_keeps_an_event_off_a_cpu),
	KUNIT_CASE(events_migrate_by_del_and_add),
	KUNIT_CASE(perf_calls_sched_task_only_on_request),
	{}
};

static struct kunit_suite suite = {
	.name = "contract_run",
	.init = recorder_init,
	.exit = recorder_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
