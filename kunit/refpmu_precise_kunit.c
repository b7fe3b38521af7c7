// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of precise events: conversion of records in memory to counts and samples. */
/* Longer than 500 lines: one suite, whose cases share the setup of records and buffer. */
#include <linux/err.h>
#include <linux/sizes.h>

#include "compat.h"
#include "core_pmu/irq.h"
#include "core_pmu/precise.h"
#include "rig.h"

#define PERIOD 10ULL
#define BUFFER_BYTES (60 * SZ_1K)

static struct perf_event_attr precise_attr(u64 config, u64 period)
{
	struct perf_event_attr attr = rig_attr(config);

	attr.sample_period = period;
	attr.precise_ip = 2;
	return attr;
}

static struct perf_event *open_precise(struct kunit *test, u64 config, u64 period)
{
	struct perf_event_attr attr = precise_attr(config, period);

	return rig_open(test, &attr);
}

/* Return the DS area in use. An earlier precise event has set the register. */
static struct refpmu_ds *area(void)
{
	return (struct refpmu_ds *)(uintptr_t)rig_reg(REFPMU_REG_DS_AREA);
}

/* Return the number of records with only the basic group that fit into the buffer. */
static u64 max_records(void)
{
	return (area()->pebs_maximum - area()->pebs_base) / sizeof(struct refpmu_pebs_basic);
}

static u64 records(void)
{
	return (area()->pebs_index - area()->pebs_base) / sizeof(struct refpmu_pebs_basic);
}

static int try_open(const struct perf_event_attr *attr)
{
	struct perf_event_attr copy = *attr;
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&copy, RIG_CPU, NULL, NULL, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	perf_event_release_kernel(event);
	return 0;
}

static void precise_event_without_a_period_is_rejected(struct kunit *test)
{
	struct perf_event_attr attr = precise_attr(RIG_PULSED, 0);

	KUNIT_EXPECT_EQ(test, try_open(&attr), -EINVAL);
	attr.precise_ip = 0;
	KUNIT_EXPECT_EQ(test, try_open(&attr), 0);
}

static void device_without_records_rejects_precise_events(struct kunit *test)
{
	const struct perf_event_attr attr = precise_attr(RIG_PULSED, PERIOD);
	const struct perf_event_attr counting = precise_attr(RIG_PULSED, 0);
	int err, of_counting;

	rig_device->caps.records = false;
	err = try_open(&attr);
	of_counting = try_open(&counting);
	rig_device->caps.records = true;
	KUNIT_EXPECT_EQ(test, err, -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, of_counting, -EOPNOTSUPP);
}

static void device_without_records_has_no_load_latency(struct kunit *test)
{
	const struct perf_event_attr attr = rig_attr(REFPMU_EVENT_LOAD_LATENCY);
	int without;

	rig_device->caps.records = false;
	without = try_open(&attr);
	rig_device->caps.records = true;
	KUNIT_EXPECT_EQ(test, without, -EINVAL);
	KUNIT_EXPECT_EQ(test, try_open(&attr), 0);
}

static void every_precise_level_is_accepted(struct kunit *test)
{
	struct perf_event_attr attr = precise_attr(RIG_PULSED, PERIOD);
	unsigned int level;

	for (level = 1; level <= REFPMU_PRECISE_MAX; level++) {
		struct perf_event *event;

		attr.precise_ip = level;
		event = rig_open(test, &attr);
		KUNIT_EXPECT_EQ(test, event->hw.flags, REFPMU_HW_PRECISE);
		/* perf calls sched_task only with this flag. */
		KUNIT_EXPECT_TRUE(test, event->attach_state & PERF_ATTACH_SCHED_CB);
	}
}

/* Create the origin of a load. Each field depends on @i, so that samples can be distinguished. */
static struct refpmu_origin load(u64 i)
{
	struct refpmu_origin origin = {
		.privilege = REFPMU_KERNEL,
		.latency = (u16)(100 + i),
		.ip = 0xffffffff81000000ULL + i,
		.addr = 0xdead0000ULL + i,
		.source = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, HIT) | i << 40,
		.time = 1000000 + i,
	};

	origin.gpr[REFPMU_RAX] = 0xa0 + i;
	return origin;
}

static void generate_load(struct kunit *test, u64 i)
{
	const struct refpmu_origin origin = load(i);
	const struct refpmu_stimulus stimulus = {
		.code = REFPMU_EVENT_LOAD_LATENCY,
		.n = 1,
		.origin = &origin,
	};

	rig_stimulate(test, &stimulus);
}

static void record_becomes_the_sample_of_its_event(struct kunit *test)
{
	struct perf_event_attr attr = precise_attr(REFPMU_EVENT_LOAD_LATENCY, 2);
	const struct rig *rig = test->priv;
	struct perf_event *event;
	unsigned int i;

	attr.config1 = 3;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
			   PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_REGS_INTR;
	event = rig_open(test, &attr);
	perf_event_enable(event);
	for (i = 1; i <= 6; i++)
		generate_load(test, i);
	perf_event_disable(event);

	KUNIT_ASSERT_EQ(test, rig->samples, 3U);
	for (i = 0; i < 3; i++) {
		/* The period is 2, so the second event of each pair ends it. */
		const struct refpmu_origin origin = load(2 * (i + 1));
		const struct rig_sample *sample = &rig->seen[i];

		KUNIT_EXPECT_EQ(test, sample->ip, origin.ip);
		KUNIT_EXPECT_TRUE(test, sample->exact);
		KUNIT_EXPECT_EQ(test, sample->addr, origin.addr);
		KUNIT_EXPECT_EQ(test, sample->time, origin.time);
		KUNIT_EXPECT_EQ(test, sample->source, origin.source);
		KUNIT_EXPECT_EQ(test, sample->weight, (u64)origin.latency);
		KUNIT_EXPECT_EQ(test, sample->ax, origin.gpr[REFPMU_RAX]);
		KUNIT_EXPECT_EQ(test, sample->period, 2ULL);
		KUNIT_EXPECT_EQ(test, sample->count, 2ULL * (i + 1));
	}
}

static void user_event_gets_no_kernel_record(struct kunit *test)
{
	struct perf_event_attr attr = precise_attr(RIG_PULSED, 1);
	struct refpmu_origin origin = load(1);
	const struct refpmu_stimulus stimulus = { .code = RIG_PULSED, .n = 1, .origin = &origin };
	const struct rig *rig = test->priv;
	struct perf_event *event;

	/* A late device records user privilege with a kernel address. */
	origin.privilege = REFPMU_USER;
	attr.exclude_kernel = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_REGS_INTR;
	event = rig_open(test, &attr);
	perf_event_enable(event);
	rig_stimulate(test, &stimulus);
	perf_event_disable(event);

	KUNIT_ASSERT_EQ(test, rig->samples, 1U);
	KUNIT_EXPECT_EQ(test, rig->seen[0].ip >> 63, 0ULL);
	KUNIT_EXPECT_NE(test, rig->seen[0].ax, origin.gpr[REFPMU_RAX]);
}

static void records_stay_in_the_buffer_until_the_count_is_read(struct kunit *test)
{
	struct perf_event *event = open_precise(test, RIG_PULSED, PERIOD);
	const struct rig *rig = test->priv;
	u64 enabled, running, pmi;
	unsigned int i;

	perf_event_enable(event);
	pmi = local64_read(&rig->cpuc->journal.pmi);
	rig_pulse(test, RIG_PULSED, 95);
	KUNIT_EXPECT_EQ(test, rig->samples, 0U);
	KUNIT_EXPECT_EQ(test, records(), 9ULL);
	KUNIT_EXPECT_EQ(test, local64_read(&rig->cpuc->journal.pmi) - pmi, 0ULL);
	KUNIT_EXPECT_EQ(test, perf_event_read_value(event, &enabled, &running), 95ULL);
	KUNIT_EXPECT_EQ(test, rig->samples, 9U);
	KUNIT_EXPECT_EQ(test, rig->periods, 90ULL);
	KUNIT_EXPECT_EQ(test, records(), 0ULL);
	for (i = 0; i < 9; i++)
		KUNIT_EXPECT_EQ_MSG(test, rig->seen[i].count, (i + 1) * PERIOD, "sample %u", i);
	perf_event_disable(event);
	KUNIT_EXPECT_EQ(test, rig->samples, 9U);
}

static void read_in_sample(struct rig *rig, struct perf_event *event)
{
	event->pmu->read(event);
	rig->seen[rig->samples - 1].count = rig_count(event);
}

static void count_in_a_sample_is_that_of_its_record(struct kunit *test)
{
	struct perf_event *event = open_precise(test, RIG_PULSED, PERIOD);
	struct rig *rig = test->priv;
	u64 enabled, running;
	unsigned int i;

	rig->on_sample = read_in_sample;
	perf_event_enable(event);
	rig_pulse(test, RIG_PULSED, 57);
	KUNIT_EXPECT_EQ(test, perf_event_read_value(event, &enabled, &running), 57ULL);
	perf_event_disable(event);
	KUNIT_ASSERT_EQ(test, rig->samples, 5U);
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ_MSG(test, rig->seen[i].count, (i + 1) * PERIOD, "sample %u", i);
}

static void full_buffer_raises_one_interrupt(struct kunit *test)
{
	struct perf_event *event = open_precise(test, RIG_PULSED, PERIOD);
	const struct rig *rig = test->priv;
	u64 claimed, threshold;

	perf_event_enable(event);
	threshold = (area()->pebs_threshold - area()->pebs_base) / sizeof(struct refpmu_pebs_basic);
	/*
	 * An eighth of the buffer is reserved for records that arrive before the interrupt is
	 * handled.
	 */
	KUNIT_EXPECT_EQ(test, threshold, max_records() - max_records() / 8);
	claimed = local64_read(&rig->cpuc->journal.pmi_claimed);
	rig_pulse(test, RIG_PULSED, threshold * PERIOD - 1);
	KUNIT_EXPECT_EQ(test, rig->samples, 0U);
	rig_pulse(test, RIG_PULSED, 1);
	KUNIT_EXPECT_EQ(test, rig->samples, (unsigned int)threshold);
	KUNIT_EXPECT_EQ(test, rig->count, threshold * PERIOD);
	KUNIT_EXPECT_EQ(test, local64_read(&rig->cpuc->journal.pmi_claimed) - claimed, 1ULL);
	KUNIT_EXPECT_EQ(test, records(), 0ULL);
	perf_event_disable(event);
}

static void full_buffer_loses_only_records(struct kunit *test)
{
	struct perf_event *event = open_precise(test, RIG_PULSED, PERIOD);
	const struct rig *rig = test->priv;
	u64 capacity, stored, index, maximum, status, after, count;

	local_irq_disable();
	rig_add(event, PERF_EF_START);
	capacity = max_records();
	/* Interrupts are off, so the line is not handled. */
	rig_tick(RIG_PULSED, (capacity + 5) * PERIOD + 3);
	stored = records();
	index = area()->pebs_index;
	maximum = area()->pebs_maximum;
	status = rig_reg(REFPMU_REG_GLOBAL_STATUS);
	refpmu_irq(rig_cpu());
	after = rig_reg(REFPMU_REG_GLOBAL_STATUS);
	count = rig_read(event);
	rig_del(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, stored, capacity);
	KUNIT_EXPECT_EQ(test, index, maximum);
	KUNIT_EXPECT_EQ(test, status, REFPMU_STATUS_DS);
	KUNIT_EXPECT_EQ(test, after, 0ULL);
	KUNIT_EXPECT_EQ(test, rig->samples, (unsigned int)capacity);
	/* Events whose record is lost are lost, too. Those of the current period are not. */
	KUNIT_EXPECT_EQ(test, count, capacity * PERIOD + 3);
}

static void device_accesses_only_its_own_memory(struct kunit *test)
{
	struct refpmu_cpu *cpuc = ((struct rig *)test->priv)->cpuc;
	struct perf_event *event = open_precise(test, RIG_PULSED, PERIOD);
	const u64 all = sizeof(struct refpmu_ds) + BUFFER_BYTES;
	u64 base;

	perf_event_enable(event);
	base = rig_reg(REFPMU_REG_DS_AREA);
	perf_event_disable(event);
	KUNIT_EXPECT_PTR_EQ(test, refpmu_precise_access(cpuc, base, all), (void *)base);
	KUNIT_EXPECT_PTR_EQ(test, refpmu_precise_access(cpuc, base + all - 8, 8),
			    (void *)(base + all - 8));
	KUNIT_EXPECT_NULL(test, refpmu_precise_access(cpuc, base, all + 1));
	KUNIT_EXPECT_NULL(test, refpmu_precise_access(cpuc, base - 8, 8));
	KUNIT_EXPECT_NULL(test, refpmu_precise_access(cpuc, base + all, 8));
	KUNIT_EXPECT_NULL(test, refpmu_precise_access(cpuc, base + all - 8, 16));
	KUNIT_EXPECT_NULL(test, refpmu_precise_access(cpuc, base + 4, 8));
	KUNIT_EXPECT_NULL(test, refpmu_precise_access(cpuc, base, ~0ULL));
	KUNIT_EXPECT_NULL(test, refpmu_precise_access(cpuc, 0, 8));
	if (num_possible_cpus() > 1) {
		cpuc = per_cpu_ptr(rig_device->cpus, RIG_CPU + 1);
		KUNIT_EXPECT_NULL(test, refpmu_precise_access(cpuc, base, 8));
	}
}

static void period_longer_than_the_counter_generates_one_sample(struct kunit *test)
{
	const u64 period = (1ULL << (rig_device->params.width + 2)) +
			   (1ULL << (rig_device->params.width - 8));
	struct perf_event *event = open_precise(test, RIG_PULSED, period);
	const struct rig *rig = test->priv;
	u64 enabled, running;

	VERIFIES(test, "DRC-065", "SMP-003");
	perf_event_enable(event);
	rig_pulse(test, RIG_PULSED, period - 1);
	KUNIT_EXPECT_EQ(test, perf_event_read_value(event, &enabled, &running), period - 1);
	KUNIT_EXPECT_EQ(test, rig->samples, 0U);
	rig_pulse(test, RIG_PULSED, 1);
	KUNIT_EXPECT_EQ(test, rig->samples, 1U);
	KUNIT_EXPECT_EQ(test, rig->periods, period);
	KUNIT_EXPECT_EQ(test, perf_event_read_value(event, &enabled, &running), period);
	/* The next period is also too long for the device to reload it. */
	rig_pulse(test, RIG_PULSED, period - 1);
	KUNIT_EXPECT_EQ(test, perf_event_read_value(event, &enabled, &running), 2 * period - 1);
	KUNIT_EXPECT_EQ(test, rig->samples, 1U);
	rig_pulse(test, RIG_PULSED, 1);
	KUNIT_EXPECT_EQ(test, rig->samples, 2U);
	perf_event_disable(event);
}

static void one_record_samples_all_overflowed_events(struct kunit *test)
{
	struct perf_event *one = open_precise(test, RIG_PULSED, PERIOD);
	struct perf_event *two = open_precise(test, RIG_PULSED, PERIOD);
	const struct rig *rig = test->priv;
	u64 stored, counts[2];

	local_irq_disable();
	rig_add(one, PERF_EF_START);
	rig_add(two, PERF_EF_START);
	rig_tick(RIG_PULSED, PERIOD);
	stored = records();
	rig_del(one);
	rig_del(two);
	counts[0] = rig_count(one);
	counts[1] = rig_count(two);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, stored, 1ULL);
	KUNIT_ASSERT_EQ(test, rig->samples, 2U);
	KUNIT_EXPECT_PTR_NE(test, rig->seen[0].event, rig->seen[1].event);
	KUNIT_EXPECT_EQ(test, counts[0], PERIOD);
	KUNIT_EXPECT_EQ(test, counts[1], PERIOD);
}

/* Stop the other event, like perf when it throttles the group. */
static void stop_other(struct rig *rig, struct perf_event *event)
{
	struct perf_event *other = rig->events[event == rig->events[0]];

	other->pmu->stop(other, 0);
}

/* perf would count a further sample as the end of the throttle. */
static void event_that_perf_stops_in_a_drain_gets_no_further_sample(struct kunit *test)
{
	struct perf_event *one = open_precise(test, RIG_PULSED, PERIOD);
	struct perf_event *two = open_precise(test, RIG_PULSED, PERIOD);
	struct rig *rig = test->priv;
	u64 counts[2];

	VERIFIES(test, "DRC-054", "DRC-055");
	rig->on_sample = stop_other;
	local_irq_disable();
	rig_add(one, PERF_EF_START);
	rig_add(two, PERF_EF_START);
	rig_tick(RIG_PULSED, 3 * PERIOD + 2);
	rig_stop(one, PERF_EF_UPDATE);
	rig->on_sample = NULL;
	rig_start(one, PERF_EF_RELOAD);
	rig_start(two, 0);
	rig_tick(RIG_PULSED, 4);
	counts[0] = rig_read(one);
	counts[1] = rig_read(two);
	rig_del(one);
	rig_del(two);
	local_irq_enable();

	/* Each period ends for both events in one record. The first event is sampled first. */
	KUNIT_EXPECT_EQ(test, rig->samples, 3U);
	KUNIT_EXPECT_EQ(test, counts[0], 3 * PERIOD + 6);
	KUNIT_EXPECT_EQ(test, counts[1], 3 * PERIOD + 6);
}

static void precise_event_does_not_change_interrupts_of_others(struct kunit *test)
{
	struct perf_event *precise = open_precise(test, RIG_PULSED, PERIOD);
	struct perf_event *plain = rig_open_sampling(test, RIG_PULSED, 4 * PERIOD);
	const struct rig *rig = test->priv;

	perf_event_enable(precise);
	perf_event_enable(plain);
	rig_pulse(test, RIG_PULSED, 4 * PERIOD);
	KUNIT_ASSERT_EQ(test, rig->samples, 1U);
	KUNIT_EXPECT_PTR_EQ(test, rig->seen[0].event, plain);
	perf_event_disable(precise);
	KUNIT_ASSERT_EQ(test, rig->samples, 5U);
	KUNIT_EXPECT_PTR_EQ(test, rig->seen[4].event, precise);
	perf_event_disable(plain);
}

static void event_stops_after_its_last_sample(struct kunit *test)
{
	struct perf_event *event = open_precise(test, RIG_PULSED, 100);
	const struct rig *rig = test->priv;
	u64 enabled, running;

	/*
	 * The samples of this event cannot wait in the buffer: the limit must take effect at once.
	 */
	atomic_set(&event->event_limit, 1);
	perf_event_enable(event);
	rig_pulse(test, RIG_PULSED, 1000);
	KUNIT_EXPECT_EQ(test, rig->samples, 1U);
	KUNIT_EXPECT_EQ(test, perf_event_read_value(event, &enabled, &running), 100ULL);
	KUNIT_EXPECT_EQ(test, rig_reg(REFPMU_REG_PEBS_ENABLE), 0ULL);
}

static void context_switch_drains_the_records(struct kunit *test)
{
	struct perf_event *event = open_precise(test, RIG_PULSED, PERIOD);
	const struct rig *rig = test->priv;
	unsigned int early, late;

	VERIFIES(test, "DRC-096");
	local_irq_disable();
	rig_add(event, PERF_EF_START);
	rig_tick(RIG_PULSED, 35);
	early = rig->samples;
	perf_pmu_disable(event->pmu);
	compat_sched_task(event->pmu, NULL, false);
	perf_pmu_enable(event->pmu);
	late = rig->samples;
	rig_del(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, early, 0U);
	KUNIT_EXPECT_EQ(test, late, 3U);
	KUNIT_EXPECT_EQ(test, rig->samples, 3U);
	KUNIT_EXPECT_EQ(test, rig_count(event), 35ULL);
}

static void new_owner_gets_no_records_of_the_previous_one(struct kunit *test)
{
	struct perf_event *old = open_precise(test, RIG_PULSED, PERIOD);
	struct perf_event *successor = open_precise(test, RIG_PULSED_TOO, PERIOD);
	const struct rig *rig = test->priv;
	unsigned int of_old, i;
	int old_idx, successor_idx;

	VERIFIES(test, "DRC-048");
	local_irq_disable();
	rig_add(old, PERF_EF_START);
	old_idx = old->hw.idx;
	rig_tick(RIG_PULSED, 25);
	rig_del(old);
	of_old = rig->samples;
	rig_add(successor, PERF_EF_START);
	successor_idx = successor->hw.idx;
	rig_tick(RIG_PULSED_TOO, 10);
	rig_del(successor);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, successor_idx, old_idx);
	KUNIT_EXPECT_EQ(test, of_old, 2U);
	KUNIT_ASSERT_EQ(test, rig->samples, 3U);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_PTR_EQ(test, rig->seen[i].event, i < 2 ? old : successor);
	KUNIT_EXPECT_EQ(test, rig_count(old), 25ULL);
	KUNIT_EXPECT_EQ(test, rig_count(successor), 10ULL);
}

static void device_reloads_with_the_current_period(struct kunit *test)
{
	struct perf_event *event = open_precise(test, RIG_PULSED, PERIOD);
	const u64 mask = refpmu_low_bits(rig_device->params.width);
	const struct rig *rig = test->priv;

	perf_event_enable(event);
	KUNIT_EXPECT_EQ(test, area()->reset[event->hw.idx], (0 - PERIOD) & mask);
	KUNIT_ASSERT_EQ(test, perf_event_period(event, 50), 0);
	KUNIT_EXPECT_EQ(test, area()->reset[event->hw.idx], (0 - 50ULL) & mask);
	rig_pulse(test, RIG_PULSED, 100);
	perf_event_disable(event);
	KUNIT_EXPECT_EQ(test, rig->samples, 2U);
	KUNIT_EXPECT_EQ(test, rig->periods, 100ULL);
}

static void disabled_event_writes_no_records(struct kunit *test)
{
	struct perf_event *event = open_precise(test, RIG_PULSED, PERIOD);
	const struct rig *rig = test->priv;

	perf_event_enable(event);
	KUNIT_EXPECT_EQ(test, rig_reg(REFPMU_REG_PEBS_ENABLE), BIT_ULL(event->hw.idx));
	perf_event_disable(event);
	KUNIT_EXPECT_EQ(test, rig_reg(REFPMU_REG_PEBS_ENABLE), 0ULL);
	KUNIT_EXPECT_EQ(test, rig->cpuc->precise.enabled, 0ULL);
	KUNIT_EXPECT_EQ(test, rig->cpuc->precise.prompt, 0ULL);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(precise_event_without_a_period_is_rejected),
	KUNIT_CASE(device_without_records_rejects_precise_events),
	KUNIT_CASE(device_without_records_has_no_load_latency),
	KUNIT_CASE(every_precise_level_is_accepted),
	KUNIT_CASE(record_becomes_the_sample_of_its_event),
	KUNIT_CASE(user_event_gets_no_kernel_record),
	KUNIT_CASE(records_stay_in_the_buffer_until_the_count_is_read),
	KUNIT_CASE(count_in_a_sample_is_that_of_its_record),
	KUNIT_CASE(full_buffer_raises_one_interrupt),
	KUNIT_CASE(full_buffer_loses_only_records),
	KUNIT_CASE(device_accesses_only_its_own_memory),
	KUNIT_CASE(period_longer_than_the_counter_generates_one_sample),
	KUNIT_CASE(one_record_samples_all_overflowed_events),
	KUNIT_CASE(event_that_perf_stops_in_a_drain_gets_no_further_sample),
	KUNIT_CASE(precise_event_does_not_change_interrupts_of_others),
	KUNIT_CASE(event_stops_after_its_last_sample),
	KUNIT_CASE(context_switch_drains_the_records),
	KUNIT_CASE(new_owner_gets_no_records_of_the_previous_one),
	KUNIT_CASE(device_reloads_with_the_current_period),
	KUNIT_CASE(disabled_event_writes_no_records),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_precise",
	.init = rig_init,
	.exit = rig_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
