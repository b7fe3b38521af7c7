// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of refpmu_uncore: requests that user space cannot make, and its timer. */
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>

#include "scope.h"
#include "uncore/uncore.h"
#include "verifies.h"

#define FOREIGN_TYPE 0x7fff0000
#define REQUESTS 0x0101 /* allowed on any counter */
#define PREFETCHES 0x0108 /* allowed on the first two counters only */
#define SETTLED (PERF_HES_STOPPED | PERF_HES_UPTODATE)
#define EVENT_CPU 0 /* CPU on which events are opened */

static struct perf_event_attr attr_of(u64 config)
{
	return (struct perf_event_attr){
		.type = refpmu_uncore.pmu.type,
		.size = sizeof(struct perf_event_attr),
		.config = config,
		.disabled = 1,
	};
}

/* Create an event as perf passes it to event_init: it is its own leader, and on no list. */
static struct perf_event *new_event(struct kunit *test, const struct perf_event_attr *attr)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, event);
	event->pmu = &refpmu_uncore.pmu;
	event->attr = *attr;
	event->group_leader = event;
	INIT_LIST_HEAD(&event->sibling_list);
	event->hw.sample_period = attr->sample_period;
	event->cpu = EVENT_CPU;
	return event;
}

/* Create an event that event_init has accepted; destroy_event() destroys it. */
static struct perf_event *open_accepted(struct kunit *test, u64 config)
{
	const struct perf_event_attr attr = attr_of(config);
	struct perf_event *event = new_event(test, &attr);

	KUNIT_ASSERT_EQ(test, refpmu_uncore_event_init(event), 0);
	return event;
}

static void destroy_event(struct perf_event *event)
{
	event->destroy(event);
}

static u64 event_count(const struct perf_event *event)
{
	return local64_read(&event->count);
}

static void pulse(u16 code, u64 n)
{
	unsigned long irqs;

	raw_spin_lock_irqsave(&refpmu_uncore.lock, irqs);
	refpmu_model_pulse(&refpmu_uncore.model, code, n, REFPMU_KERNEL, true);
	raw_spin_unlock_irqrestore(&refpmu_uncore.lock, irqs);
}

static void poll(void)
{
	unsigned long irqs;

	raw_spin_lock_irqsave(&refpmu_uncore.lock, irqs);
	refpmu_uncore_poll(&refpmu_uncore);
	raw_spin_unlock_irqrestore(&refpmu_uncore.lock, irqs);
}

static int add(struct perf_event *event, int flags)
{
	int err;

	local_irq_disable();
	err = refpmu_uncore_add(event, flags);
	local_irq_enable();
	return err;
}

static void del(struct perf_event *event)
{
	local_irq_disable();
	refpmu_uncore_del(event, 0);
	local_irq_enable();
}

static void start(struct perf_event *event, int flags)
{
	local_irq_disable();
	refpmu_uncore_start(event, flags);
	local_irq_enable();
}

static void stop(struct perf_event *event, int flags)
{
	local_irq_disable();
	refpmu_uncore_stop(event, flags);
	local_irq_enable();
}

static void pmu_has_no_interrupt_and_no_exclusion(struct kunit *test)
{
	const struct pmu *pmu = &refpmu_uncore.pmu;

	VERIFIES(test, "DRC-010");
	/* 0 would be perf_hw_context, which belongs to core PMUs. */
	KUNIT_EXPECT_EQ(test, (int)pmu->task_ctx_nr, (int)perf_invalid_context);
	KUNIT_EXPECT_TRUE(test, pmu->capabilities & PERF_PMU_CAP_NO_INTERRUPT);
	KUNIT_EXPECT_TRUE(test, pmu->capabilities & PERF_PMU_CAP_NO_EXCLUDE);
}

static void event_of_another_type_reaches_no_check(struct kunit *test)
{
	struct perf_event_attr attr = attr_of(REQUESTS);
	const s64 inits = atomic64_read(&refpmu_uncore.inits);
	struct perf_event *event;

	VERIFIES(test, "DRC-017", "DRC-036", "INI-003");
	attr.type = FOREIGN_TYPE;
	event = new_event(test, &attr);
	event->cpu = -1;
	KUNIT_EXPECT_EQ(test, refpmu_uncore_event_init(event), -ENOENT);
	KUNIT_EXPECT_EQ(test, atomic64_read(&refpmu_uncore.inits), inits);
	KUNIT_EXPECT_NULL(test, event->destroy);
}

/* perf itself rejects the event only after event_init. */
static void event_init_rejects_events_without_a_cpu(struct kunit *test)
{
	const struct perf_event_attr attr = attr_of(REQUESTS);
	const s64 live = atomic64_read(&refpmu_uncore.live);
	struct perf_event *event = new_event(test, &attr);

	VERIFIES(test, "DRC-028", "DRC-036", "DRC-037");
	event->cpu = -1;
	KUNIT_EXPECT_EQ(test, refpmu_uncore_event_init(event), -EINVAL);
	KUNIT_EXPECT_NULL(test, event->destroy);
	event->cpu = EVENT_CPU;
	event->attach_state = PERF_ATTACH_TASK;
	KUNIT_EXPECT_EQ(test, refpmu_uncore_event_init(event), -EINVAL);
	KUNIT_EXPECT_NULL(test, event->destroy);
	KUNIT_EXPECT_EQ(test, atomic64_read(&refpmu_uncore.live), live);
}

/* If the kernel keeps the cpumask, it checks the CPU itself. */
static void expect_cpu(struct kunit *test, const struct perf_event *event, int requested)
{
	KUNIT_EXPECT_EQ_MSG(test, event->cpu,
			    refpmu_uncore.scoped ? requested : (int)refpmu_uncore.cpu,
			    "requested CPU %d", requested);
}

/* Open @sibling like perf, which holds the lock of the context while it walks the group. */
static int init_sibling(struct perf_event *sibling)
{
	struct mutex *lock = &sibling->group_leader->ctx->mutex;
	int err;

	mutex_lock(lock);
	err = refpmu_uncore_event_init(sibling);
	mutex_unlock(lock);
	return err;
}

static void event_runs_on_a_cpu_of_the_cpumask(struct kunit *test)
{
	const struct perf_event_attr attr = attr_of(REQUESTS);
	struct perf_event *leader = new_event(test, &attr), *sibling = new_event(test, &attr);
	struct perf_event_context *context = kunit_kzalloc(test, sizeof(*context), GFP_KERNEL);
	int leader_cpu, sibling_cpu;

	VERIFIES(test, "DRC-029", "DRC-091", "INI-020");
	KUNIT_ASSERT_NOT_NULL(test, context);
	mutex_init(&context->mutex);
	leader->ctx = context;
	sibling->group_leader = leader;
	for_each_online_cpu(leader_cpu) {
		for_each_online_cpu(sibling_cpu) {
			leader->cpu = leader_cpu;
			KUNIT_ASSERT_EQ(test, refpmu_uncore_event_init(leader), 0);
			expect_cpu(test, leader, leader_cpu);
			sibling->cpu = sibling_cpu;
			KUNIT_ASSERT_EQ(test, init_sibling(sibling), 0);
			expect_cpu(test, sibling, sibling_cpu);
			destroy_event(sibling);
			destroy_event(leader);
		}
	}
	KUNIT_EXPECT_TRUE(test, refpmu_uncore.scoped || cpu_online(refpmu_uncore.cpu));
}

/* perf does not check PERF_PMU_CAP_NO_INTERRUPT for events that the kernel opens. */
static void kernel_counters_cannot_sample(struct kunit *test)
{
	struct perf_event_attr attr = attr_of(REQUESTS);
	struct perf_event *event;

	VERIFIES(test, "DRC-033", "DRC-036", "DRC-110");
	attr.sample_period = 1000;
	event = perf_event_create_kernel_counter(&attr, EVENT_CPU, NULL, NULL, NULL);
	KUNIT_EXPECT_TRUE(test, IS_ERR(event));
	if (IS_ERR(event))
		KUNIT_EXPECT_EQ(test, PTR_ERR(event), -EOPNOTSUPP);
	else
		perf_event_release_kernel(event);
}

static void kernel_counters_count(struct kunit *test)
{
	struct perf_event_attr attr = attr_of(REQUESTS);
	struct perf_event *event;
	u64 enabled, running;

	VERIFIES(test, "DRV-033");
	attr.disabled = 0;
	event = perf_event_create_kernel_counter(&attr, EVENT_CPU, NULL, NULL, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	pulse(REQUESTS, 42);
	KUNIT_EXPECT_EQ(test, perf_event_read_value(event, &enabled, &running), 42ULL);
	perf_event_release_kernel(event);
	KUNIT_EXPECT_EQ(test, refpmu_uncore.used, 0ULL);
}

/* The timer function that runs when the last counter stops may start the timer once more. */
static bool timer_ends(void)
{
	const u64 deadline = ktime_get_ns() + NSEC_PER_SEC;

	while (hrtimer_active(&refpmu_uncore.timer)) {
		if (ktime_get_ns() > deadline)
			return false;
		cpu_relax();
	}
	return true;
}

static void timer_runs_only_while_a_counter_runs(struct kunit *test)
{
	struct perf_event *a = open_accepted(test, REQUESTS);
	struct perf_event *b = open_accepted(test, REQUESTS);

	VERIFIES(test, "DRC-079");
	/* A timer function that ran when the last counter stopped may still be running. */
	hrtimer_cancel(&refpmu_uncore.timer);
	KUNIT_ASSERT_EQ(test, add(a, 0), 0);
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&refpmu_uncore.timer));
	start(a, PERF_EF_RELOAD);
	KUNIT_EXPECT_TRUE(test, hrtimer_active(&refpmu_uncore.timer));
	KUNIT_ASSERT_EQ(test, add(b, PERF_EF_START), 0);
	stop(a, PERF_EF_UPDATE);
	KUNIT_EXPECT_TRUE(test, hrtimer_active(&refpmu_uncore.timer));
	del(b);
	KUNIT_EXPECT_TRUE(test, timer_ends());
	KUNIT_EXPECT_EQ(test, refpmu_uncore.running, 0ULL);
	del(a);
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&refpmu_uncore.timer));
	destroy_event(a);
	destroy_event(b);
}

static void poll_folds_across_every_wrap(struct kunit *test)
{
	const u64 half = 1ULL << (refpmu_uncore.params.width - 1);
	struct perf_event *event = open_accepted(test, REQUESTS);
	unsigned int i;

	VERIFIES(test, "CNT-007", "DRC-061", "DRC-079");
	KUNIT_ASSERT_EQ(test, add(event, PERF_EF_START), 0);
	for (i = 0; i < 10; i++) {
		pulse(REQUESTS, half - 1);
		poll();
	}
	KUNIT_EXPECT_EQ(test, event_count(event), 10 * (half - 1));
	del(event);
	KUNIT_EXPECT_EQ(test, event_count(event), 10 * (half - 1));
	destroy_event(event);
}

static void late_update_folds_once(struct kunit *test)
{
	struct perf_event *event = open_accepted(test, REQUESTS);

	VERIFIES(test, "DRC-052", "DRC-062", "DRV-009");
	KUNIT_ASSERT_EQ(test, add(event, PERF_EF_START), 0);
	pulse(REQUESTS, 42);
	stop(event, 0);
	KUNIT_EXPECT_EQ(test, event->hw.state, PERF_HES_STOPPED);
	pulse(REQUESTS, 100);
	poll();
	stop(event, PERF_EF_UPDATE);
	stop(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, event->hw.state, SETTLED);
	KUNIT_EXPECT_EQ(test, event_count(event), 42ULL);
	start(event, 0);
	pulse(REQUESTS, 8);
	del(event);
	KUNIT_EXPECT_EQ(test, event_count(event), 50ULL);
	destroy_event(event);
}

static void moved_events_keep_their_count(struct kunit *test)
{
	struct perf_event *any[2] = { open_accepted(test, REQUESTS),
				     open_accepted(test, REQUESTS) };
	struct perf_event *picky[2] = { open_accepted(test, PREFETCHES),
				       open_accepted(test, PREFETCHES) };
	struct perf_event *none = open_accepted(test, PREFETCHES);
	unsigned int i;

	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(test, add(any[i], PERF_EF_START), 0);
	pulse(REQUESTS, 7);
	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(test, add(picky[i], PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, add(none, PERF_EF_START), -EAGAIN);
	KUNIT_EXPECT_EQ(test, none->hw.idx, -1);
	pulse(REQUESTS, 3);
	pulse(PREFETCHES, 5);
	for (i = 0; i < 2; i++) {
		del(any[i]);
		del(picky[i]);
		KUNIT_EXPECT_EQ(test, event_count(any[i]), 10ULL);
		KUNIT_EXPECT_EQ(test, event_count(picky[i]), 5ULL);
		destroy_event(any[i]);
		destroy_event(picky[i]);
	}
	destroy_event(none);
	KUNIT_EXPECT_EQ(test, refpmu_uncore.used, 0ULL);
}

/* A case that failed early must not leave its events to the next cases. */
static void uncore_exit(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < REFPMU_MAX_GENERAL; i++) {
		struct perf_event *event = refpmu_uncore.owner[i];

		if (!event)
			continue;
		del(event);
		destroy_event(event);
	}
}

KUNIT_ARRAY_PARAM(scope, scope_choices, scope_desc);

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(pmu_has_no_interrupt_and_no_exclusion, scope_gen_params),
	KUNIT_CASE_PARAM(event_of_another_type_reaches_no_check, scope_gen_params),
	KUNIT_CASE_PARAM(event_init_rejects_events_without_a_cpu, scope_gen_params),
	KUNIT_CASE_PARAM(event_runs_on_a_cpu_of_the_cpumask, scope_gen_params),
	KUNIT_CASE_PARAM(kernel_counters_cannot_sample, scope_gen_params),
	KUNIT_CASE_PARAM(kernel_counters_count, scope_gen_params),
	KUNIT_CASE_PARAM(timer_runs_only_while_a_counter_runs, scope_gen_params),
	KUNIT_CASE_PARAM(poll_folds_across_every_wrap, scope_gen_params),
	KUNIT_CASE_PARAM(late_update_folds_once, scope_gen_params),
	KUNIT_CASE_PARAM(moved_events_keep_their_count, scope_gen_params),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_uncore",
	.suite_exit = scope_suite_exit,
	.init = scope_init,
	.exit = uncore_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
