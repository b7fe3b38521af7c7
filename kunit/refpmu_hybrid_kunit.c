// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of two core types: which PMU accepts an event, and where the event counts. */
#include <linux/err.h>

#include "compat/compat.h"
#include "core_pmu/hybrid.h"
#include "core_types.h"
#include "rig.h"

#define BIG core_types_big
#define LITTLE core_types_little
#define BIG_CPU CORE_TYPES_BIG_CPU
#define LITTLE_CPU CORE_TYPES_LITTLE_CPU

static int hybrid_init(struct kunit *test)
{
	if (!cpu_online(LITTLE_CPU))
		kunit_skip(test, "one CPU");
	return rig_init(test);
}

static struct perf_event_attr attr_of(const struct refpmu_device *dev, u64 config)
{
	struct perf_event_attr attr = rig_attr(config);

	attr.type = dev->pmu.type;
	return attr;
}

static struct perf_event *open_on(struct kunit *test, struct perf_event_attr *attr, int cpu)
{
	struct rig *rig = test->priv;
	struct perf_event *event;

	event = perf_event_create_kernel_counter(attr, cpu, NULL, NULL, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	rig->events[rig->n_events++] = event;
	return event;
}

static int try_open(const struct perf_event_attr *attr, int cpu)
{
	struct perf_event_attr copy = *attr;
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&copy, cpu, NULL, NULL, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	perf_event_release_kernel(event);
	return 0;
}

struct pulses {
	struct refpmu_device *dev;
	u64 n;
};

static void pulse_here(void *data)
{
	const struct pulses *pulses = data;

	refpmu_model_pulse(&refpmu_this_cpu(pulses->dev)->model, RIG_PULSED, pulses->n,
			   REFPMU_KERNEL, true);
}

static void pulse_on(struct refpmu_device *dev, int cpu, u64 n)
{
	struct pulses pulses = { .dev = dev, .n = n };

	smp_call_function_single(cpu, pulse_here, &pulses, 1);
}

static void every_cpu_has_one_core_type(struct kunit *test)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		KUNIT_EXPECT_EQ_MSG(test, refpmu_runs_on(&BIG->pmu, cpu), !(cpu & 1), "cpu %d",
				    cpu);
		KUNIT_EXPECT_EQ_MSG(test, refpmu_runs_on(&LITTLE->pmu, cpu), cpu & 1, "cpu %d",
				    cpu);
	}
}

static void filter_excludes_cpus_of_another_core_type(struct kunit *test)
{
#ifdef PERF_PMU_CAP_HETEROGENEOUS_CPUS
	struct perf_event_attr attr = attr_of(BIG, RIG_PULSED);
	struct perf_event *event = open_on(test, &attr, BIG_CPU);
	bool here, there;

	VERIFIES(test, "DRC-011", "DRC-090", "DRV-026", "DRV-029");
	KUNIT_EXPECT_TRUE(test, BIG->pmu.capabilities & PERF_PMU_CAP_HETEROGENEOUS_CPUS);
	local_irq_disable();
	here = BIG->pmu.filter_match(event);
	event->pmu = &LITTLE->pmu;
	there = LITTLE->pmu.filter_match(event);
	event->pmu = &BIG->pmu;
	local_irq_enable();
	KUNIT_EXPECT_TRUE(test, here);
	KUNIT_EXPECT_FALSE(test, there);
#else
	VERIFIES(test, "DRC-090", "DRV-026");
	KUNIT_EXPECT_FALSE(test, BIG->pmu.filter(&BIG->pmu, BIG_CPU));
	KUNIT_EXPECT_TRUE(test, BIG->pmu.filter(&BIG->pmu, LITTLE_CPU));
	KUNIT_EXPECT_TRUE(test, LITTLE->pmu.filter(&LITTLE->pmu, BIG_CPU));
	KUNIT_EXPECT_FALSE(test, LITTLE->pmu.filter(&LITTLE->pmu, LITTLE_CPU));
#endif
}

/* Create an event as perf passes it to event_init: it is its own leader, and on no list. */
static int init_on(struct kunit *test, struct refpmu_device *dev, u64 config, int cpu)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	int err;

	KUNIT_ASSERT_NOT_NULL(test, event);
	event->pmu = &dev->pmu;
	event->attr = attr_of(dev, config);
	event->group_leader = event;
	INIT_LIST_HEAD(&event->sibling_list);
	event->cpu = cpu;
	err = dev->pmu.event_init(event);
	if (event->destroy)
		event->destroy(event);
	return err;
}

static void event_on_a_cpu_of_another_core_type_returns_enoent(struct kunit *test)
{
	VERIFIES(test, "DRC-015");
	KUNIT_EXPECT_EQ(test, init_on(test, BIG, RIG_PULSED, BIG_CPU), 0);
	KUNIT_EXPECT_EQ(test, init_on(test, BIG, RIG_PULSED, LITTLE_CPU), -ENOENT);
	KUNIT_EXPECT_EQ(test, init_on(test, LITTLE, RIG_PULSED, LITTLE_CPU), 0);
	KUNIT_EXPECT_EQ(test, init_on(test, LITTLE, RIG_PULSED, BIG_CPU), -ENOENT);
	/* An event of a task may run on any CPU. */
	KUNIT_EXPECT_EQ(test, init_on(test, BIG, RIG_PULSED, -1), 0);
	KUNIT_EXPECT_EQ(test, init_on(test, LITTLE, RIG_PULSED, -1), 0);
	/*
	 * The PMU of the other core type may accept this event, so -ENOENT has priority over
	 * -EINVAL.
	 */
	KUNIT_EXPECT_EQ(test, init_on(test, BIG, BIT_ULL(63), LITTLE_CPU), -ENOENT);
	KUNIT_EXPECT_EQ(test, init_on(test, BIG, BIT_ULL(63), BIG_CPU), -EINVAL);
}

static void generic_event_uses_the_pmu_of_its_cpu(struct kunit *test)
{
	struct perf_event_attr attr = rig_attr(PERF_COUNT_HW_CPU_CYCLES);
	struct perf_event *big, *little;

	attr.type = PERF_TYPE_HARDWARE;
	big = open_on(test, &attr, BIG_CPU);
	little = open_on(test, &attr, LITTLE_CPU);
	KUNIT_EXPECT_PTR_EQ(test, big->pmu, &BIG->pmu);
	KUNIT_EXPECT_PTR_EQ(test, little->pmu, &LITTLE->pmu);
}

static void each_core_type_counts_on_its_own_device(struct kunit *test)
{
	struct perf_event_attr of_big = attr_of(BIG, RIG_PULSED);
	struct perf_event_attr of_little = attr_of(LITTLE, RIG_PULSED);
	struct perf_event *big = open_on(test, &of_big, BIG_CPU);
	struct perf_event *little = open_on(test, &of_little, LITTLE_CPU);
	u64 enabled, running;

	perf_event_enable(big);
	perf_event_enable(little);
	KUNIT_EXPECT_EQ(test, per_cpu_ptr(BIG->cpus, LITTLE_CPU)->used, 0ULL);
	KUNIT_EXPECT_EQ(test, per_cpu_ptr(LITTLE->cpus, BIG_CPU)->used, 0ULL);
	pulse_on(BIG, BIG_CPU, 5);
	pulse_on(LITTLE, LITTLE_CPU, 700);
	KUNIT_EXPECT_EQ(test, perf_event_read_value(big, &enabled, &running), 5ULL);
	KUNIT_EXPECT_EQ(test, perf_event_read_value(little, &enabled, &running), 700ULL);
}

static void counter_has_the_width_of_its_core_type(struct kunit *test)
{
	struct perf_event_attr attr = attr_of(LITTLE, RIG_PULSED);
	struct perf_event *event = open_on(test, &attr, LITTLE_CPU);
	const u64 half = 1ULL << (LITTLE->params.width - 1);
	struct refpmu_cpu *cpuc = per_cpu_ptr(LITTLE->cpus, LITTLE_CPU);
	u64 enabled, running, value = 0;

	KUNIT_ASSERT_LT(test, LITTLE->params.width, BIG->params.width);
	perf_event_enable(event);
	/* The counter is programmed for half of its range, less one. */
	WARN_ON(refpmu_model_read(&cpuc->model, REFPMU_REG_PMC(event->hw.idx), &value));
	KUNIT_EXPECT_EQ(test, value, half + 1);
	pulse_on(LITTLE, LITTLE_CPU, half + 12);
	KUNIT_EXPECT_EQ(test, perf_event_read_value(event, &enabled, &running), half + 12);
}

static void little_cores_reject_absent_features(struct kunit *test)
{
	struct perf_event_attr attr = attr_of(LITTLE, RIG_PULSED);

	attr.sample_period = 1000;
	KUNIT_EXPECT_EQ(test, try_open(&attr, LITTLE_CPU), 0);
	attr.precise_ip = 1;
	KUNIT_EXPECT_EQ(test, try_open(&attr, LITTLE_CPU), -EOPNOTSUPP);
	attr.precise_ip = 0;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL;
	KUNIT_EXPECT_EQ(test, try_open(&attr, LITTLE_CPU), -EOPNOTSUPP);
	attr.type = BIG->pmu.type;
	KUNIT_EXPECT_EQ(test, try_open(&attr, BIG_CPU), 0);
}

static void little_cores_have_fewer_counters(struct kunit *test)
{
	struct perf_event_attr attr = attr_of(LITTLE, RIG_PULSED);
	struct perf_event *events[3];
	unsigned int i;

	KUNIT_ASSERT_EQ(test, (int)LITTLE->params.general, 2);
	for (i = 0; i < 3; i++) {
		events[i] = open_on(test, &attr, LITTLE_CPU);
		perf_event_enable(events[i]);
	}
	KUNIT_EXPECT_EQ(test, (int)events[0]->state, (int)PERF_EVENT_STATE_ACTIVE);
	KUNIT_EXPECT_EQ(test, (int)events[1]->state, (int)PERF_EVENT_STATE_ACTIVE);
	/* The event is pinned and did not fit. */
	KUNIT_EXPECT_EQ(test, (int)events[2]->state, (int)PERF_EVENT_STATE_ERROR);
	KUNIT_EXPECT_EQ(test, per_cpu_ptr(LITTLE->cpus, LITTLE_CPU)->used, 3ULL);
}

static void group_has_events_of_one_core_type(struct kunit *test)
{
	struct perf_event *leader = kunit_kzalloc(test, sizeof(*leader), GFP_KERNEL);
	struct perf_event *member = kunit_kzalloc(test, sizeof(*member), GFP_KERNEL);
	struct perf_event_context *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);

	VERIFIES(test, "DRC-089");
	KUNIT_ASSERT_NOT_NULL(test, leader);
	KUNIT_ASSERT_NOT_NULL(test, member);
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	mutex_init(&ctx->mutex);
	INIT_LIST_HEAD(&leader->sibling_list);
	INIT_LIST_HEAD(&member->sibling_list);
	leader->pmu = &BIG->pmu;
	leader->attr = attr_of(BIG, RIG_PULSED);
	leader->group_leader = leader;
	leader->ctx = ctx;
	leader->cpu = -1;
	member->pmu = &LITTLE->pmu;
	member->attr = attr_of(LITTLE, RIG_PULSED);
	member->group_leader = leader;
	member->cpu = -1;

	KUNIT_ASSERT_EQ(test, BIG->pmu.event_init(leader), 0);
	mutex_lock(&ctx->mutex);
	KUNIT_EXPECT_EQ(test, LITTLE->pmu.event_init(member), -EINVAL);
	mutex_unlock(&ctx->mutex);
	KUNIT_EXPECT_NULL(test, member->destroy);
	leader->destroy(leader);
	mutex_destroy(&ctx->mutex);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(every_cpu_has_one_core_type),
	KUNIT_CASE(filter_excludes_cpus_of_another_core_type),
	KUNIT_CASE(event_on_a_cpu_of_another_core_type_returns_enoent),
	KUNIT_CASE(generic_event_uses_the_pmu_of_its_cpu),
	KUNIT_CASE(each_core_type_counts_on_its_own_device),
	KUNIT_CASE(counter_has_the_width_of_its_core_type),
	KUNIT_CASE(little_cores_reject_absent_features),
	KUNIT_CASE(little_cores_have_fewer_counters),
	KUNIT_CASE(group_has_events_of_one_core_type),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_hybrid",
	.suite_init = core_types_set_up,
	.suite_exit = core_types_tear_down,
	.init = hybrid_init,
	.exit = rig_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
