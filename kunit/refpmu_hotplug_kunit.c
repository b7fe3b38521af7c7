// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of CPU hotplug: a CPU does not find state that was left before it went offline. */
#include <linux/cpu.h>
#include <linux/err.h>

#include "trace/trace.h"
#include "rig.h"

/* The CPU that goes offline. The other CPU checks its state. */
#define OTHER_CPU (RIG_CPU + 1)

static struct refpmu_cpu *other(void)
{
	return per_cpu_ptr(rig_device->cpus, OTHER_CPU);
}

static int hotplug_init(struct kunit *test)
{
	if (!cpu_online(OTHER_CPU))
		kunit_skip(test, "one CPU");
	return rig_init(test);
}

/* A case that failed early leaves the CPU offline. */
static void hotplug_exit(struct kunit *test)
{
	if (cpu_possible(OTHER_CPU) && !cpu_online(OTHER_CPU))
		KUNIT_EXPECT_EQ(test, add_cpu(OTHER_CPU), 0);
	rig_exit(test);
}

static u64 other_reg(u32 reg)
{
	u64 value = 0;

	WARN_ON(refpmu_model_read(&other()->model, reg, &value));
	return value;
}

static void set_other_reg(u32 reg, u64 value)
{
	WARN_ON(refpmu_model_write(&other()->model, reg, value));
}

/* Leave the registers in the state of a driver without cleanup, except for a pending interrupt. */
static void write_garbage(void)
{
	struct refpmu_cpu *cpuc = other();
	const struct refpmu_model_params *params = &cpuc->model.params;
	unsigned int i;

	for (i = 0; i < params->general; i++) {
		set_other_reg(REFPMU_REG_EVTSEL(i), RIG_PULSED | REFPMU_EVTSEL_EN |
						    REFPMU_EVTSEL_OS | REFPMU_EVTSEL_INT);
		set_other_reg(REFPMU_REG_A_PMC(i), 7);
	}
	set_other_reg(REFPMU_REG_FIXED_CTR_CTRL, 0xbbb);
	set_other_reg(REFPMU_REG_DEBUGCTL, REFPMU_DEBUGCTL_LBR);
	set_other_reg(REFPMU_REG_PEBS_ENABLE, 1);
	set_other_reg(REFPMU_REG_GLOBAL_CTRL, refpmu_low_bits(params->general));
	set_other_reg(REFPMU_REG_GLOBAL_STATUS_SET,
		      1 | REFPMU_STATUS_DS | REFPMU_STATUS_LBR_FROZEN);
	cpuc->used = 5;
	cpuc->running = 2;
	cpuc->disable_depth = 1;
	cpuc->masked = 1;
	cpuc->txn = PERF_PMU_TXN_ADD;
	cpuc->latched = true;
	cpuc->line_held = true;
	cpuc->lbr.users = 3;
	cpuc->precise.enabled = 1;
	cpuc->precise.reloaded = 1;
	cpuc->precise.prompt = 1;
	cpuc->precise.draining = true;
	cpuc->clock_mode = REFPMU_CLOCK_MANUAL;
}

static void onlined_cpu_has_reset_registers(struct kunit *test)
{
	unsigned int i;

	KUNIT_ASSERT_EQ(test, remove_cpu(OTHER_CPU), 0);
	write_garbage();
	KUNIT_ASSERT_TRUE(test, refpmu_model_line(&other()->model));
	KUNIT_ASSERT_EQ(test, add_cpu(OTHER_CPU), 0);

	for (i = 0; i < rig_device->params.general; i++)
		KUNIT_EXPECT_EQ_MSG(test, other_reg(REFPMU_REG_EVTSEL(i)), 0ULL, "counter %u", i);
	KUNIT_EXPECT_EQ(test, other_reg(REFPMU_REG_FIXED_CTR_CTRL), 0ULL);
	KUNIT_EXPECT_EQ(test, other_reg(REFPMU_REG_DEBUGCTL), 0ULL);
	KUNIT_EXPECT_EQ(test, other_reg(REFPMU_REG_PEBS_ENABLE), 0ULL);
	KUNIT_EXPECT_EQ(test, other_reg(REFPMU_REG_GLOBAL_CTRL), 0ULL);
	KUNIT_EXPECT_EQ(test, other_reg(REFPMU_REG_GLOBAL_STATUS), 0ULL);
	KUNIT_EXPECT_FALSE(test, refpmu_model_line(&other()->model));
}

static void onlined_cpu_has_reset_driver_state(struct kunit *test)
{
	const struct refpmu_cpu *cpuc = other();

	KUNIT_ASSERT_EQ(test, remove_cpu(OTHER_CPU), 0);
	write_garbage();
	KUNIT_ASSERT_EQ(test, add_cpu(OTHER_CPU), 0);

	KUNIT_EXPECT_EQ(test, cpuc->used, 0ULL);
	KUNIT_EXPECT_EQ(test, cpuc->n_events, 0U);
	KUNIT_EXPECT_EQ(test, cpuc->running, 0U);
	KUNIT_EXPECT_EQ(test, cpuc->disable_depth, 0U);
	KUNIT_EXPECT_EQ(test, cpuc->masked, 0U);
	KUNIT_EXPECT_EQ(test, cpuc->txn, 0U);
	KUNIT_EXPECT_FALSE(test, cpuc->raised);
	KUNIT_EXPECT_FALSE(test, cpuc->latched);
	KUNIT_EXPECT_FALSE(test, cpuc->line_held);
	KUNIT_EXPECT_EQ(test, cpuc->lbr.users, 0U);
	KUNIT_EXPECT_EQ(test, cpuc->precise.enabled, 0ULL);
	KUNIT_EXPECT_EQ(test, cpuc->precise.reloaded, 0ULL);
	KUNIT_EXPECT_EQ(test, cpuc->precise.prompt, 0ULL);
	KUNIT_EXPECT_FALSE(test, cpuc->precise.draining);
	KUNIT_EXPECT_EQ(test, cpuc->clock_mode, (u32)REFPMU_CLOCK_AUTO);
}

/* Arm the timer as if the next overflow were far away when the CPU goes offline. */
static void arm_timer(void *unused)
{
	hrtimer_start(&rig_cpu()->timer, ns_to_ktime(3600 * NSEC_PER_SEC),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static void offlining_a_cpu_cancels_its_timer(struct kunit *test)
{
	smp_call_function_single(OTHER_CPU, arm_timer, NULL, 1);
	KUNIT_EXPECT_TRUE(test, hrtimer_active(&other()->timer));
	KUNIT_ASSERT_EQ(test, remove_cpu(OTHER_CPU), 0);
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&other()->timer));
	KUNIT_EXPECT_EQ(test, add_cpu(OTHER_CPU), 0);
}

static void offlining_a_cpu_stops_its_events_and_timer(struct kunit *test)
{
	struct perf_event_attr attr = rig_attr(REFPMU_EVENT_CYCLES);
	struct rig *rig = test->priv;
	struct perf_event *event;

	/* The clock generates this event, so the timer is armed. */
	event = perf_event_create_kernel_counter(&attr, OTHER_CPU, NULL, NULL, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	rig->events[rig->n_events++] = event;
	perf_event_enable(event);
	KUNIT_EXPECT_NE(test, other()->used, 0ULL);
	KUNIT_ASSERT_EQ(test, remove_cpu(OTHER_CPU), 0);

	KUNIT_EXPECT_EQ(test, other()->used, 0ULL);
	KUNIT_EXPECT_EQ(test, other()->n_events, 0U);
	KUNIT_EXPECT_EQ(test, other_reg(REFPMU_REG_GLOBAL_CTRL), 0ULL);
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&other()->timer));
	KUNIT_EXPECT_FALSE(test, refpmu_pending(other()));
	KUNIT_EXPECT_EQ(test, add_cpu(OTHER_CPU), 0);
}

static void pulse_other(void *n)
{
	refpmu_model_pulse(&rig_cpu()->model, RIG_PULSED, (unsigned long)n, REFPMU_KERNEL, true);
}

static void pulse_on_other(unsigned long n)
{
	smp_call_function_single(OTHER_CPU, pulse_other, (void *)n, 1);
}

static struct perf_event *open_on_other(struct kunit *test)
{
	struct perf_event_attr attr = rig_attr(RIG_PULSED);
	struct rig *rig = test->priv;
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, OTHER_CPU, NULL, NULL, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	rig->events[rig->n_events++] = event;
	perf_event_enable(event);
	return event;
}

static void count_remains_after_its_cpu_goes_offline(struct kunit *test)
{
	struct perf_event *event = open_on_other(test);
	u64 enabled, running;

	pulse_on_other(42);
	KUNIT_ASSERT_EQ(test, remove_cpu(OTHER_CPU), 0);
	KUNIT_EXPECT_EQ(test, perf_event_read_value(event, &enabled, &running), 42ULL);
	KUNIT_EXPECT_EQ(test, rig_count(event), 42ULL);
	KUNIT_ASSERT_EQ(test, add_cpu(OTHER_CPU), 0);
	pulse_on_other(5);
	KUNIT_EXPECT_EQ(test, rig_count(event), 42ULL);
}

static void offline_cpu_rejects_events(struct kunit *test)
{
	struct perf_event_attr attr = rig_attr(RIG_PULSED);
	const s64 live = atomic64_read(&rig_device->live);
	struct perf_event *event;

	VERIFIES(test, "DRV-033", "DRC-038");
	KUNIT_ASSERT_EQ(test, remove_cpu(OTHER_CPU), 0);
	event = perf_event_create_kernel_counter(&attr, OTHER_CPU, NULL, NULL, NULL);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(event), -ENODEV);
	if (!IS_ERR(event))
		perf_event_release_kernel(event);
	KUNIT_EXPECT_EQ(test, atomic64_read(&rig_device->live), live);
	KUNIT_EXPECT_EQ(test, add_cpu(OTHER_CPU), 0);
}

static void onlined_cpu_counts(struct kunit *test)
{
	struct perf_event *event;
	u64 enabled, running;

	KUNIT_ASSERT_EQ(test, remove_cpu(OTHER_CPU), 0);
	write_garbage();
	KUNIT_ASSERT_EQ(test, add_cpu(OTHER_CPU), 0);
	event = open_on_other(test);
	pulse_on_other(13);
	KUNIT_EXPECT_EQ(test, perf_event_read_value(event, &enabled, &running), 13ULL);
}

static void onlined_cpu_does_not_trace(struct kunit *test)
{
	struct refpmu_trace_cpu *t = per_cpu_ptr(refpmu_trace_cpus, OTHER_CPU);
	u64 control = ~0ULL, area = ~0ULL;

	KUNIT_ASSERT_EQ(test, remove_cpu(OTHER_CPU), 0);
	WARN_ON(refpmu_model_write(&t->model, REFPMU_REG_DEBUGCTL,
				   REFPMU_DEBUGCTL_TR | REFPMU_DEBUGCTL_BTS));
	WARN_ON(refpmu_model_write(&t->model, REFPMU_REG_DS_AREA, (uintptr_t)&t->ds));
	t->control = REFPMU_DEBUGCTL_TR;
	t->line_held = true;
	t->ds.bts_index = 24;
	KUNIT_ASSERT_EQ(test, add_cpu(OTHER_CPU), 0);

	WARN_ON(refpmu_model_read(&t->model, REFPMU_REG_DEBUGCTL, &control));
	WARN_ON(refpmu_model_read(&t->model, REFPMU_REG_DS_AREA, &area));
	KUNIT_EXPECT_EQ(test, control, 0ULL);
	KUNIT_EXPECT_EQ(test, area, 0ULL);
	KUNIT_EXPECT_EQ(test, t->control, 0ULL);
	KUNIT_EXPECT_FALSE(test, t->line_held);
	KUNIT_EXPECT_EQ(test, t->ds.bts_index, 0ULL);
	KUNIT_EXPECT_NULL(test, t->event);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(onlined_cpu_has_reset_registers),
	KUNIT_CASE(onlined_cpu_has_reset_driver_state),
	KUNIT_CASE(offlining_a_cpu_cancels_its_timer),
	KUNIT_CASE(offlining_a_cpu_stops_its_events_and_timer),
	KUNIT_CASE(count_remains_after_its_cpu_goes_offline),
	KUNIT_CASE(offline_cpu_rejects_events),
	KUNIT_CASE(onlined_cpu_counts),
	KUNIT_CASE(onlined_cpu_does_not_trace),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_hotplug",
	.init = hotplug_init,
	.exit = hotplug_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
