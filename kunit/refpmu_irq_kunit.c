// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of the overflow handler: claiming, acknowledging, folding, samples. */
/* Longer than 500 lines: one suite, whose cases share the counters and their overflows. */
#include "core_pmu/irq.h"
#include "rig.h"

/* Set the counter of @event to its maximum: the next event overflows it. */
static void set_to_maximum(struct perf_event *event)
{
	const u64 top = refpmu_low_bits(rig_device->params.width);

	rig_set_reg(REFPMU_REG_A_PMC(event->hw.idx), top);
	local64_set(&event->hw.prev_count, top);
}

static void spurious_interrupt_is_not_claimed(struct kunit *test)
{
	const struct refpmu_cpu *cpuc = ((struct rig *)test->priv)->cpuc;
	struct perf_event *event = rig_open_pulsed(test);
	u64 claimed, count;
	irqreturn_t ret;

	VERIFIES(test, "DRC-074", "NMI-004");
	local_irq_disable();
	rig_add(event, PERF_EF_START);
	rig_tick(RIG_PULSED, 3);
	claimed = local64_read(&cpuc->journal.pmi_claimed);
	ret = refpmu_irq(rig_cpu());
	claimed = local64_read(&cpuc->journal.pmi_claimed) - claimed;
	count = rig_read(event);
	rig_del(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, (int)ret, (int)IRQ_NONE);
	KUNIT_EXPECT_EQ(test, claimed, 0ULL);
	KUNIT_EXPECT_EQ(test, count, 3ULL);
}

static void every_status_bit_is_acknowledged(struct kunit *test)
{
	const u64 bits = refpmu_low_bits(rig_device->params.general) |
			 refpmu_low_bits(rig_device->params.fixed) << REFPMU_FIXED_BASE;
	u64 left, status = 0;
	unsigned int refused = 0;

	VERIFIES(test, "DRC-074", "NMI-004");
	/* These counters have no owner. The handler must handle that, too. */
	local_irq_disable();
	for (left = bits; left; left &= left - 1) {
		rig_set_reg(REFPMU_REG_GLOBAL_STATUS_SET, left & -left);
		refused += refpmu_irq(rig_cpu()) != IRQ_HANDLED;
		status |= rig_reg(REFPMU_REG_GLOBAL_STATUS);
	}
	rig_set_reg(REFPMU_REG_GLOBAL_STATUS_SET, bits);
	refused += refpmu_irq(rig_cpu()) != IRQ_HANDLED;
	status |= rig_reg(REFPMU_REG_GLOBAL_STATUS);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, refused, 0U);
	KUNIT_EXPECT_EQ(test, status, 0ULL);
}

static void handler_does_not_change_a_stopped_event(struct kunit *test)
{
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, 10);
	const struct rig *rig = test->priv;
	u64 before, after, count;
	int state_before, state;

	VERIFIES(test, "DRC-074");
	local_irq_disable();
	rig_add(event, 0);
	state_before = event->hw.state;
	before = rig_reg(REFPMU_REG_PMC(event->hw.idx));
	rig_set_reg(REFPMU_REG_GLOBAL_STATUS_SET, BIT_ULL(event->hw.idx));
	refpmu_irq(rig_cpu());
	after = rig_reg(REFPMU_REG_PMC(event->hw.idx));
	state = event->hw.state;
	count = rig_count(event);
	rig_del(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, state, state_before);
	KUNIT_EXPECT_EQ(test, after, before);
	KUNIT_EXPECT_EQ(test, count, 0ULL);
	KUNIT_EXPECT_EQ(test, rig->samples, 0U);
}

/* How an event became a stopped one. */
enum stopped_by {
	ADDED_WITHOUT_START,
	STOPPED_AND_FOLDED,
	STOPPED_WITHOUT_FOLD,
	STOPPED_MAX,
};

/* Fields of a stopped event that the handler may not change. */
struct stopped {
	u64 value;
	u64 prev;
	u64 left;
	u64 last_period;
	u64 count;
	u64 state;
};

static struct stopped save_stopped(const struct perf_event *event)
{
	return (struct stopped){
		.value = rig_reg(REFPMU_REG_PMC(event->hw.idx)),
		.prev = local64_read(&event->hw.prev_count),
		.left = local64_read(&event->hw.period_left),
		.last_period = event->hw.last_period,
		.count = rig_count(event),
		.state = event->hw.state,
	};
}

/*
 * Stop @event, with @left of its period, and let the handler find an overflow of its counter.
 * Return what the handler returned.
 */
static irqreturn_t overflow_while_stopped(struct perf_event *event, enum stopped_by by, s64 left,
					  struct stopped *before, struct stopped *after)
{
	irqreturn_t ret;

	local_irq_disable();
	rig_add(event, by == ADDED_WITHOUT_START ? 0 : PERF_EF_START);
	if (by != ADDED_WITHOUT_START) {
		rig_tick(RIG_PULSED, 4);
		rig_stop(event, by == STOPPED_AND_FOLDED ? PERF_EF_UPDATE : 0);
	}
	local64_set(&event->hw.period_left, left);
	*before = save_stopped(event);
	rig_set_reg(REFPMU_REG_GLOBAL_STATUS_SET, BIT_ULL(event->hw.idx));
	ret = refpmu_irq(rig_cpu());
	*after = save_stopped(event);
	rig_del(event);
	local_irq_enable();
	return ret;
}

/* PERF_EVENT_IOC_PERIOD leaves nothing of the period; an overflow may leave less than nothing. */
static void handler_does_not_reload_a_stopped_event(struct kunit *test)
{
	static const s64 lefts[] = { 0, -3, 1, 10, 1000 };
	struct perf_event *const events[] = { rig_open_sampling(test, RIG_PULSED, 10),
					      rig_open_pulsed(test) };
	const struct rig *rig = test->priv;
	unsigned int i, by, l;

	VERIFIES(test, "DRC-074");
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		for (by = 0; by < STOPPED_MAX; by++) {
			for (l = 0; l < ARRAY_SIZE(lefts); l++) {
				struct stopped before, after;
				irqreturn_t ret;

				ret = overflow_while_stopped(events[i], by, lefts[l], &before,
							     &after);
				KUNIT_EXPECT_EQ(test, (int)ret, (int)IRQ_HANDLED);
				KUNIT_EXPECT_EQ_MSG(test, memcmp(&before, &after, sizeof(after)),
						    0, "event %u, stopped by %u, %lld left", i, by,
						    lefts[l]);
			}
		}
	}
	KUNIT_EXPECT_EQ(test, rig->samples, 0U);
}

static void overflow_folds_and_reloads_a_counting_event(struct kunit *test)
{
	struct perf_event *event = rig_open_pulsed(test);
	const u64 half = 1ULL << (rig_device->params.width - 1);
	const struct rig *rig = test->priv;
	u64 count, value;

	VERIFIES(test, "CNT-008", "DRC-073");
	local_irq_disable();
	rig_add(event, PERF_EF_START);
	set_to_maximum(event);
	rig_tick(RIG_PULSED, 1);
	refpmu_irq(rig_cpu());
	count = rig_count(event);
	value = rig_reg(REFPMU_REG_PMC(event->hw.idx));
	rig_del(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, count, 1ULL);
	/* The event continues its period of half the range, which had only just begun. */
	KUNIT_EXPECT_GE(test, value, half);
	KUNIT_EXPECT_LT(test, value, half + 10);
	KUNIT_EXPECT_EQ(test, rig->samples, 0U);
}

static void handler_changes_only_the_overflowed_counter(struct kunit *test)
{
	struct perf_event *full = rig_open_pulsed(test);
	struct perf_event *other = rig_open_pulsed(test);
	u64 before, after, folded;

	VERIFIES(test, "DRC-074");
	local_irq_disable();
	rig_add(full, PERF_EF_START);
	rig_add(other, PERF_EF_START);
	set_to_maximum(full);
	rig_tick(RIG_PULSED, 1);
	before = rig_reg(REFPMU_REG_PMC(other->hw.idx));
	refpmu_irq(rig_cpu());
	after = rig_reg(REFPMU_REG_PMC(other->hw.idx));
	folded = rig_count(other);
	rig_del(full);
	rig_del(other);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, after, before);
	KUNIT_EXPECT_EQ(test, folded, 0ULL);
	KUNIT_EXPECT_EQ(test, rig_count(other), 1ULL);
}

static void number_of_samples_is_count_divided_by_period(struct kunit *test)
{
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, 100);
	const struct rig *rig = test->priv;
	u64 enabled, running;

	VERIFIES(test, "DRC-071");
	perf_event_enable(event);
	rig_pulse(test, RIG_PULSED, 1050);
	perf_event_disable(event);

	KUNIT_EXPECT_EQ(test, rig->samples, 10U);
	KUNIT_EXPECT_EQ(test, rig->periods, 1000ULL);
	KUNIT_EXPECT_EQ(test, rig->count, 1000ULL);
	KUNIT_EXPECT_EQ(test, perf_event_read_value(event, &enabled, &running), 1050ULL);
}

static void period_left_survives_disable_and_enable(struct kunit *test)
{
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, 100);
	const struct rig *rig = test->priv;

	VERIFIES(test, "DRC-053", "DRV-010", "SMP-011");
	perf_event_enable(event);
	rig_pulse(test, RIG_PULSED, 60);
	perf_event_disable(event);
	rig_pulse(test, RIG_PULSED, 500);
	perf_event_enable(event);
	rig_pulse(test, RIG_PULSED, 39);
	KUNIT_EXPECT_EQ(test, rig->samples, 0U);
	rig_pulse(test, RIG_PULSED, 1);
	KUNIT_EXPECT_EQ(test, rig->samples, 1U);
	perf_event_disable(event);
}

static void two_overflows_in_one_interrupt_generate_two_samples(struct kunit *test)
{
	struct perf_event *one = rig_open_sampling(test, RIG_PULSED, 64);
	struct perf_event *two = rig_open_sampling(test, RIG_PULSED, 32);
	const struct rig *rig = test->priv;
	u64 pmi;

	VERIFIES(test, "DRC-067", "DRC-072");
	perf_event_enable(one);
	perf_event_enable(two);
	rig_pulse(test, RIG_PULSED, 63);
	KUNIT_EXPECT_EQ(test, rig->samples, 1U);
	pmi = local64_read(&rig->cpuc->journal.pmi_claimed);
	rig_pulse(test, RIG_PULSED, 1);
	/*
	 * Samples with different periods: one of 32, then one of 64 and one of 32 at the same time.
	 */
	KUNIT_EXPECT_EQ(test, local64_read(&rig->cpuc->journal.pmi_claimed) - pmi, 1ULL);
	KUNIT_EXPECT_EQ(test, rig->samples, 3U);
	KUNIT_EXPECT_EQ(test, rig->periods, 128ULL);
	perf_event_disable(one);
	perf_event_disable(two);
}

static void late_interrupt_loses_no_events(struct kunit *test)
{
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, 100);
	const struct rig *rig = test->priv;

	VERIFIES(test, "DRC-066");
	perf_event_enable(event);
	local_irq_disable();
	/* 30 events happen after the overflow, before the handler runs. */
	rig_tick(RIG_PULSED, 130);
	refpmu_irq(rig_cpu());
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, rig->samples, 1U);
	KUNIT_EXPECT_EQ(test, rig->count, 130ULL);
	rig_pulse(test, RIG_PULSED, 69);
	KUNIT_EXPECT_EQ(test, rig->samples, 1U);
	rig_pulse(test, RIG_PULSED, 1);
	KUNIT_EXPECT_EQ(test, rig->samples, 2U);
	KUNIT_EXPECT_EQ(test, rig->count, 200ULL);
	perf_event_disable(event);
}

static void new_period_takes_effect_at_once(struct kunit *test)
{
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, 1000);
	const struct rig *rig = test->priv;

	VERIFIES(test, "CTL-015", "DRC-068", "SMP-017");
	perf_event_enable(event);
	rig_pulse(test, RIG_PULSED, 10);
	KUNIT_ASSERT_EQ(test, perf_event_period(event, 50), 0);
	rig_pulse(test, RIG_PULSED, 49);
	KUNIT_EXPECT_EQ(test, rig->samples, 0U);
	rig_pulse(test, RIG_PULSED, 51);
	KUNIT_EXPECT_EQ(test, rig->samples, 2U);
	KUNIT_EXPECT_EQ(test, rig->periods, 100ULL);
	perf_event_disable(event);
}

static void invalid_period_is_rejected_without_effect(struct kunit *test)
{
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, 100);
	const struct rig *rig = test->priv;

	VERIFIES(test, "DRC-070");
	perf_event_enable(event);
	KUNIT_EXPECT_EQ(test, perf_event_period(event, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, event->pmu->check_period(event, 0), -EINVAL);
	rig_pulse(test, RIG_PULSED, 100);
	KUNIT_EXPECT_EQ(test, rig->samples, 1U);
	perf_event_disable(event);
}

static void event_stops_after_its_last_sample(struct kunit *test)
{
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, 100);
	const struct rig *rig = test->priv;
	u64 enabled, running;

	VERIFIES(test, "DRC-054", "DRC-076");
	/* One remaining sample: state after PERF_EVENT_IOC_REFRESH. */
	atomic_set(&event->event_limit, 1);
	perf_event_enable(event);
	rig_pulse(test, RIG_PULSED, 1000);

	KUNIT_EXPECT_EQ(test, rig->samples, 1U);
	KUNIT_EXPECT_EQ(test, perf_event_read_value(event, &enabled, &running), 100ULL);
}

/* State of the event during the overflow callback. */
static struct {
	u64 value;
	u64 prev;
	int state;
	bool irqs_off;
} found;

static void capture_state(struct rig *rig, struct perf_event *event)
{
	found.value = rig_reg(REFPMU_REG_PMC(event->hw.idx));
	found.prev = local64_read(&event->hw.prev_count);
	found.state = event->hw.state;
	found.irqs_off = irqs_disabled();
}

static void overflow_is_reported_after_the_event_is_updated(struct kunit *test)
{
	const unsigned int period = 100;
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, period);
	const u64 armed = refpmu_low_bits(rig_device->params.width) + 1 - period;
	struct rig *rig = test->priv;

	VERIFIES(test, "DRV-021", "DRC-067", "DRC-071");
	rig->on_sample = capture_state;
	perf_event_enable(event);
	rig_pulse(test, RIG_PULSED, period);
	perf_event_disable(event);
	KUNIT_ASSERT_EQ(test, rig->samples, 1U);
	KUNIT_EXPECT_EQ(test, rig->count, (u64)period);
	KUNIT_EXPECT_EQ(test, rig->periods, (u64)period);
	KUNIT_EXPECT_EQ(test, found.value, armed);
	KUNIT_EXPECT_EQ(test, found.prev, armed);
	KUNIT_EXPECT_EQ(test, found.state, 0);
	KUNIT_EXPECT_TRUE(test, found.irqs_off);
}

static void start_resumes_an_event_that_the_handler_stopped(struct kunit *test)
{
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, 100);
	u64 stopped, count;
	int state;

	VERIFIES(test, "DRC-054", "DRV-011", "DRV-021", "THR-004");
	local_irq_disable();
	atomic_set(&event->event_limit, 1);
	rig_add(event, PERF_EF_START);
	rig_tick(RIG_PULSED, 100);
	refpmu_irq(rig_cpu());
	state = event->hw.state;
	rig_tick(RIG_PULSED, 50);
	stopped = rig_read(event);
	/* perf starts an unthrottled event like this. */
	rig_start(event, 0);
	rig_tick(RIG_PULSED, 7);
	count = rig_read(event);
	rig_del(event);
	local_irq_enable();

	KUNIT_EXPECT_TRUE(test, state & PERF_HES_STOPPED);
	KUNIT_EXPECT_EQ(test, stopped, 100ULL);
	KUNIT_EXPECT_EQ(test, count, 107ULL);
}

/* Return the distance of the counter to its next overflow. */
static u64 to_overflow(const struct perf_event *event)
{
	const u64 value = rig_reg(REFPMU_REG_PMC(event->hw.idx));

	return refpmu_low_bits(rig_device->params.width) + 1 - value;
}

/*
 * perf stops all members of a throttled group. The overflow of such a member may be pending. The
 * handler then finds a stopped event, and its start must program the counter.
 */
static void start_programs_a_counter_that_overflowed_before_the_stop(struct kunit *test)
{
	struct perf_event *const events[] = { rig_open_sampling(test, RIG_PULSED, 100),
					      rig_open_pulsed(test) };
	const struct rig *rig = test->priv;
	const u64 half = 1ULL << (rig_device->params.width - 1);
	u64 distance[2], count[2];
	unsigned int i, samples[2];

	VERIFIES(test, "DRC-054", "DRC-074", "DRV-011");
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		local_irq_disable();
		rig_add(events[i], PERF_EF_START);
		if (i)
			set_to_maximum(events[i]);
		rig_tick(RIG_PULSED, i ? 1 : 100);
		rig_stop(events[i], 0);
		refpmu_irq(rig_cpu());
		samples[i] = rig->samples;
		rig_start(events[i], 0);
		distance[i] = to_overflow(events[i]);
		rig_tick(RIG_PULSED, 100);
		refpmu_irq(rig_cpu());
		count[i] = rig_read(events[i]);
		rig_del(events[i]);
		local_irq_enable();
	}

	KUNIT_EXPECT_EQ(test, samples[0], 0U);
	KUNIT_EXPECT_EQ(test, distance[0], 100ULL);
	KUNIT_EXPECT_EQ(test, count[0], 200ULL);
	KUNIT_EXPECT_EQ(test, distance[1], half - 2);
	KUNIT_EXPECT_EQ(test, count[1], 101ULL);
	KUNIT_EXPECT_EQ(test, rig->samples, 1U);
}

/* The handler has not run between the stop and the start. */
static void pending_overflow_survives_a_stop_and_a_start(struct kunit *test)
{
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, 100);
	const struct rig *rig = test->priv;
	u64 distance, count;

	VERIFIES(test, "DRC-054", "DRV-011");
	local_irq_disable();
	rig_add(event, PERF_EF_START);
	rig_tick(RIG_PULSED, 103);
	rig_stop(event, 0);
	rig_start(event, 0);
	refpmu_irq(rig_cpu());
	distance = to_overflow(event);
	count = rig_read(event);
	rig_del(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, rig->samples, 1U);
	KUNIT_EXPECT_EQ(test, rig->periods, 100ULL);
	KUNIT_EXPECT_EQ(test, distance, 97ULL);
	KUNIT_EXPECT_EQ(test, count, 103ULL);
}

/* In frequency mode perf may change the period of a running event at any time. */
static void reload_uses_the_current_period(struct kunit *test)
{
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, 100);
	const struct rig *rig = test->priv;

	VERIFIES(test, "DRC-067", "DRC-069");
	perf_event_enable(event);
	rig_pulse(test, RIG_PULSED, 50);
	event->hw.sample_period = 10;
	rig_pulse(test, RIG_PULSED, 50);
	KUNIT_EXPECT_EQ(test, rig->samples, 1U);
	rig_pulse(test, RIG_PULSED, 30);
	KUNIT_EXPECT_EQ(test, rig->samples, 4U);
	KUNIT_EXPECT_EQ(test, rig->periods, 130ULL);
	perf_event_disable(event);
}

static void clock_overflows_a_cycles_event(struct kunit *test)
{
	struct perf_event *event = rig_open_sampling(test, REFPMU_EVENT_CYCLES, 1000);
	struct rig *rig = test->priv;
	unsigned int i;

	perf_event_enable(event);
	/* The clock is manual, so no event happens by itself. */
	KUNIT_EXPECT_EQ(test, rig->samples, 0U);
	for (i = 0; i < 5; i++) {
		local_irq_disable();
		refpmu_model_advance(&rig->cpuc->model, 1000, REFPMU_KERNEL, false);
		refpmu_irq(rig->cpuc);
		local_irq_enable();
	}
	KUNIT_EXPECT_EQ(test, rig->samples, 5U);
	KUNIT_EXPECT_EQ(test, rig->count, 5000ULL);
	perf_event_disable(event);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(spurious_interrupt_is_not_claimed),
	KUNIT_CASE(every_status_bit_is_acknowledged),
	KUNIT_CASE(handler_does_not_change_a_stopped_event),
	KUNIT_CASE(handler_does_not_reload_a_stopped_event),
	KUNIT_CASE(overflow_folds_and_reloads_a_counting_event),
	KUNIT_CASE(handler_changes_only_the_overflowed_counter),
	KUNIT_CASE(number_of_samples_is_count_divided_by_period),
	KUNIT_CASE(period_left_survives_disable_and_enable),
	KUNIT_CASE(two_overflows_in_one_interrupt_generate_two_samples),
	KUNIT_CASE(late_interrupt_loses_no_events),
	KUNIT_CASE(new_period_takes_effect_at_once),
	KUNIT_CASE(invalid_period_is_rejected_without_effect),
	KUNIT_CASE(event_stops_after_its_last_sample),
	KUNIT_CASE(overflow_is_reported_after_the_event_is_updated),
	KUNIT_CASE(start_resumes_an_event_that_the_handler_stopped),
	KUNIT_CASE(start_programs_a_counter_that_overflowed_before_the_stop),
	KUNIT_CASE(pending_overflow_survives_a_stop_and_a_start),
	KUNIT_CASE(reload_uses_the_current_period),
	KUNIT_CASE(clock_overflows_a_cycles_event),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_irq",
	.init = rig_init,
	.exit = rig_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
