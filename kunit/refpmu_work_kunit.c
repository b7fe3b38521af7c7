// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of the work clock, with a work page that only the cases write. */
#include "core_pmu/pmu.h"
#include "port/clock.h"
#include "port/interrupt.h"
#include "port/work.h"
#include "rig.h"

static u64 words[REFPMU_WORK_BLOCK];

static void set_clock(void *counts)
{
	struct refpmu_cpu *cpuc = rig_cpu();

	cpuc->work = (struct refpmu_work){
		.counts = counts,
		.events = BIT_ULL(REFPMU_WORK_INSTRUCTIONS) | BIT_ULL(REFPMU_WORK_BRANCHES),
	};
	refpmu_clock_mode(cpuc, counts ? REFPMU_CLOCK_AUTO : REFPMU_CLOCK_MANUAL);
}

static int work_init(struct kunit *test)
{
	int err = rig_init(test);

	memset(words, 0, sizeof(words));
	return err ?: smp_call_function_single(RIG_CPU, set_clock, words, 1);
}

static void work_exit(struct kunit *test)
{
	smp_call_function_single(RIG_CPU, set_clock, NULL, 1);
	rig_exit(test);
}

static void execute(unsigned int event, enum refpmu_privilege privilege, u64 n)
{
	words[REFPMU_WORK_WORD(event, privilege)] += n;
}

static struct perf_event *open_of_user(struct kunit *test, u64 config, u64 period)
{
	struct perf_event_attr attr = rig_attr(config);

	attr.sample_period = period;
	attr.exclude_kernel = 1;
	return rig_open(test, &attr);
}

static void instructions_are_counted_by_privilege(struct kunit *test)
{
	struct perf_event_attr attr = rig_attr(REFPMU_EVENT_INSTRUCTIONS);
	struct perf_event *all = rig_open(test, &attr);
	struct perf_event *user = open_of_user(test, REFPMU_EVENT_INSTRUCTIONS, 0);
	u64 of_all, of_user;

	local_irq_disable();
	rig_add(all, PERF_EF_START);
	rig_add(user, PERF_EF_START);
	execute(REFPMU_WORK_INSTRUCTIONS, REFPMU_USER, 1001);
	execute(REFPMU_WORK_INSTRUCTIONS, REFPMU_KERNEL, 50);
	of_all = rig_read(all);
	of_user = rig_read(user);
	rig_del(user);
	rig_del(all);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, of_all, 1051ULL);
	KUNIT_EXPECT_EQ(test, of_user, 1001ULL);
}

static void instruction_takes_two_cycles(struct kunit *test)
{
	struct perf_event_attr cycles = rig_attr(REFPMU_EVENT_CYCLES);
	struct perf_event_attr reference = rig_attr(REFPMU_EVENT_REF_CYCLES);
	struct perf_event *a = rig_open(test, &cycles), *b = rig_open(test, &reference);
	u64 of_cycles, of_reference;

	local_irq_disable();
	rig_add(a, PERF_EF_START);
	rig_add(b, PERF_EF_START);
	execute(REFPMU_WORK_INSTRUCTIONS, REFPMU_USER, 1000);
	of_cycles = rig_read(a);
	of_reference = rig_read(b);
	rig_del(b);
	rig_del(a);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, of_cycles, 2000ULL);
	KUNIT_EXPECT_EQ(test, of_reference, 500ULL);
}

static void branches_of_the_page_are_counted(struct kunit *test)
{
	struct perf_event *event = open_of_user(test, REFPMU_EVENT_BRANCHES, 0);
	u64 count;

	local_irq_disable();
	rig_add(event, PERF_EF_START);
	execute(REFPMU_WORK_INSTRUCTIONS, REFPMU_USER, 1000);
	execute(REFPMU_WORK_BRANCHES, REFPMU_USER, 70);
	execute(REFPMU_WORK_BRANCHES, REFPMU_KERNEL, 7);
	/* The set of counted events lacks them. */
	execute(REFPMU_WORK_CALLS, REFPMU_USER, 3);
	count = rig_read(event);
	rig_del(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, count, 70ULL);
}

static void work_while_no_counter_runs_is_not_counted(struct kunit *test)
{
	struct perf_event *event = open_of_user(test, REFPMU_EVENT_INSTRUCTIONS, 0);
	u64 first, second;

	local_irq_disable();
	execute(REFPMU_WORK_INSTRUCTIONS, REFPMU_USER, 500);
	rig_add(event, PERF_EF_START);
	execute(REFPMU_WORK_INSTRUCTIONS, REFPMU_USER, 10);
	first = rig_read(event);
	rig_del(event);
	execute(REFPMU_WORK_INSTRUCTIONS, REFPMU_USER, 500);
	rig_add(event, PERF_EF_START);
	execute(REFPMU_WORK_INSTRUCTIONS, REFPMU_USER, 20);
	second = rig_read(event);
	rig_del(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, first, 10ULL);
	KUNIT_EXPECT_EQ(test, second, 30ULL);
}

static void every_period_of_late_work_has_a_sample(struct kunit *test)
{
	struct perf_event *event = open_of_user(test, REFPMU_EVENT_INSTRUCTIONS, 10);
	const struct rig *rig = test->priv;
	unsigned int samples;
	u64 count;

	if (!refpmu_pmi_is_nmi)
		kunit_skip(test, "the work clock needs NMIs");
	local_irq_disable();
	rig_add(event, PERF_EF_START);
	execute(REFPMU_WORK_INSTRUCTIONS, REFPMU_USER, 125);
	count = rig_read(event);
	samples = rig->samples;
	execute(REFPMU_WORK_INSTRUCTIONS, REFPMU_USER, 5);
	rig_read(event);
	rig_del(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, count, 125ULL);
	KUNIT_EXPECT_EQ(test, samples, 12U);
	KUNIT_EXPECT_EQ(test, rig->samples, 13U);
	KUNIT_EXPECT_EQ(test, rig->periods, 130ULL);
	KUNIT_EXPECT_EQ(test, rig->seen[3].count, 40ULL);
	KUNIT_EXPECT_TRUE(test, rig->seen[0].in_nmi);
}

static void overflow_before_the_pmu_is_disabled_has_its_sample(struct kunit *test)
{
	struct perf_event *event = open_of_user(test, REFPMU_EVENT_INSTRUCTIONS, 10);
	const struct rig *rig = test->priv;
	u64 count;

	if (!refpmu_pmi_is_nmi)
		kunit_skip(test, "the work clock needs NMIs");
	local_irq_disable();
	rig_add(event, PERF_EF_START);
	execute(REFPMU_WORK_INSTRUCTIONS, REFPMU_USER, 25);
	rig_del(event);
	count = rig_count(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, rig->samples, 2U);
	KUNIT_EXPECT_EQ(test, count, 25ULL);
}

static void overflow_before_an_event_stops_has_its_sample(struct kunit *test)
{
	struct perf_event *event = open_of_user(test, REFPMU_EVENT_BRANCHES, 10);
	const struct rig *rig = test->priv;
	u64 count;

	if (!refpmu_pmi_is_nmi)
		kunit_skip(test, "the work clock needs NMIs");
	local_irq_disable();
	rig_add(event, PERF_EF_START);
	execute(REFPMU_WORK_BRANCHES, REFPMU_USER, 30);
	event->pmu->stop(event, PERF_EF_UPDATE);
	count = rig_count(event);
	rig_del(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, rig->samples, 3U);
	KUNIT_EXPECT_EQ(test, count, 30ULL);
}

static void timer_waits_for_the_nearest_overflow(struct kunit *test)
{
	struct perf_event *instructions = open_of_user(test, REFPMU_EVENT_INSTRUCTIONS, 5000);
	struct perf_event *branches = open_of_user(test, REFPMU_EVENT_BRANCHES, 700);
	struct refpmu_cpu *cpuc;
	u64 early, exact, near, scaled;

	local_irq_disable();
	cpuc = rig_cpu();
	rig_add(instructions, PERF_EF_START);
	cpuc->work.overhead = 300;
	early = refpmu_work_delay(cpuc);
	cpuc->work.in_timer = true;
	exact = refpmu_work_delay(cpuc);
	cpuc->work.in_timer = false;
	rig_add(branches, PERF_EF_START);
	near = refpmu_work_delay(cpuc);
	cpuc->work.shift = 3;
	scaled = refpmu_work_delay(cpuc);
	rig_del(branches);
	rig_del(instructions);
	local_irq_enable();

	/* The first timer fires early. Only the timer's handler knows the kernel's overhead. */
	KUNIT_EXPECT_EQ(test, early, 3800ULL);
	KUNIT_EXPECT_EQ(test, exact, 5300ULL);
	KUNIT_EXPECT_EQ(test, near, 1000ULL);
	KUNIT_EXPECT_EQ(test, scaled, 8000ULL);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(instructions_are_counted_by_privilege),
	KUNIT_CASE(instruction_takes_two_cycles),
	KUNIT_CASE(branches_of_the_page_are_counted),
	KUNIT_CASE(work_while_no_counter_runs_is_not_counted),
	KUNIT_CASE(every_period_of_late_work_has_a_sample),
	KUNIT_CASE(overflow_before_the_pmu_is_disabled_has_its_sample),
	KUNIT_CASE(overflow_before_an_event_stops_has_its_sample),
	KUNIT_CASE(timer_waits_for_the_nearest_overflow),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_work",
	.init = work_init,
	.exit = work_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_LICENSE("GPL");
