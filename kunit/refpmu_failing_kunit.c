// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of failing calls: load, open and mmap when an allocation or a registration fails. */
#include <linux/err.h>

#include "failing.h"
#include "module.h"
#include "trace/trace.h"
#include "uncore/uncore.h"
#include "rig.h"
#include "scope.h"

/* Maximum number of attempts to load. In each attempt, a later call fails. */
#define MAX_STEPS 500

static struct perf_event_attr attr_of(const struct pmu *pmu)
{
	return (struct perf_event_attr){
		.type = pmu->type,
		.size = sizeof(struct perf_event_attr),
		.disabled = 1,
	};
}

static bool can_open(const struct pmu *pmu, u64 config)
{
	struct perf_event_attr attr = attr_of(pmu);
	struct perf_event *event;

	attr.config = config;
	event = perf_event_create_kernel_counter(&attr, RIG_CPU, NULL, NULL, NULL);
	if (IS_ERR(event))
		return false;
	perf_event_release_kernel(event);
	return true;
}

static bool all_can_open(void)
{
	return can_open(&rig_device->pmu, RIG_PULSED) &&
	       can_open(&refpmu_uncore.pmu, refpmu_uncore_events[0].code);
}

static void failed_load_releases_everything(struct kunit *test)
{
	const u32 type = rig_device->pmu.type;
	struct perf_event_attr attr = { .type = type, .size = sizeof(attr), .config = RIG_PULSED };
	unsigned int n, tolerated = 0;
	int err = 0;

	VERIFIES(test, "DRC-014", "DRV-030");
	KUNIT_ASSERT_GT(test, failing_unreleased(), 0U);
	refpmu_unload();
	for (n = 1; n < MAX_STEPS; n++) {
		KUNIT_EXPECT_EQ_MSG(test, failing_unreleased(), 0U, "before call %u fails", n);
		failing_arm(n);
		err = refpmu_load();
		if (failing_armed())
			break;
		KUNIT_EXPECT_EQ_MSG(test, err, failing_errno(), "call %u failed", n);
		if (!err) {
			tolerated++;
			refpmu_unload();
		} else {
			struct perf_event *event;

			event = perf_event_create_kernel_counter(&attr, RIG_CPU, NULL, NULL, NULL);
			KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(event), -ENOENT, "call %u", n);
		}
	}
	failing_arm(0);
	/* In the last attempt no call failed. */
	KUNIT_ASSERT_EQ(test, err, 0);
	KUNIT_ASSERT_LT(test, n, (unsigned int)MAX_STEPS);
	kunit_info(test, "%u calls failed, one after the other\n", n - 1);
	KUNIT_EXPECT_GT(test, n, 20U);
	KUNIT_EXPECT_LE(test, tolerated, 1U); /* the NMI: the driver can use an irq_work instead */
	KUNIT_EXPECT_TRUE(test, all_can_open());
}

static void unload_releases_everything(struct kunit *test)
{
	const unsigned int held = failing_unreleased();
	struct perf_event_attr attr = rig_attr(RIG_PULSED);
	struct perf_event *event;
	unsigned int i;

	VERIFIES(test, "DRV-031");
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_TRUE(test, all_can_open());
		refpmu_unload();
		KUNIT_EXPECT_EQ(test, failing_unreleased(), 0U);
		event = perf_event_create_kernel_counter(&attr, RIG_CPU, NULL, NULL, NULL);
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(event), -ENOENT);
		KUNIT_ASSERT_EQ(test, refpmu_load(), 0);
		KUNIT_EXPECT_EQ(test, failing_unreleased(), held);
		attr.type = rig_device->pmu.type;
	}
}

/* Return the result of opening an event on @pmu if its @nth allocation fails. */
static int open_without_memory(const struct pmu *pmu, u64 config, unsigned int nth)
{
	struct perf_event_attr attr = attr_of(pmu);
	struct perf_event *event;

	attr.config = config;
	failing_arm(nth);
	event = perf_event_create_kernel_counter(&attr, RIG_CPU, NULL, NULL, NULL);
	failing_arm(0);
	if (!IS_ERR(event))
		perf_event_release_kernel(event);
	return PTR_ERR_OR_ZERO(event);
}

static void event_init_without_memory_fails_without_effect(struct kunit *test)
{
	const s64 destroys = atomic64_read(&rig_device->destroys);
	const s64 live = atomic64_read(&rig_device->live);
	const unsigned int held = failing_unreleased();

	VERIFIES(test, "DRC-037", "DRV-013", "INI-026");
	KUNIT_EXPECT_EQ(test, open_without_memory(&rig_device->pmu, RIG_PULSED, 1), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic64_read(&rig_device->live), live);
	KUNIT_EXPECT_EQ(test, atomic64_read(&rig_device->destroys), destroys);
	KUNIT_EXPECT_EQ(test, failing_unreleased(), held);
	KUNIT_EXPECT_EQ(test, open_without_memory(&rig_device->pmu, RIG_PULSED, 2), 0);
	KUNIT_EXPECT_EQ(test, failing_unreleased(), held);
}

static void uncore_event_init_without_memory_fails_without_effect(struct kunit *test)
{
	const u64 code = refpmu_uncore_events[0].code;
	const s64 live = atomic64_read(&refpmu_uncore.live);
	const s64 destroys = atomic64_read(&refpmu_uncore.destroys);
	const unsigned int held = failing_unreleased();

	VERIFIES(test, "DRC-037", "DRV-013", "INI-026");
	KUNIT_EXPECT_EQ(test, open_without_memory(&refpmu_uncore.pmu, code, 1), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic64_read(&refpmu_uncore.live), live);
	KUNIT_EXPECT_EQ(test, atomic64_read(&refpmu_uncore.destroys), destroys);
	KUNIT_EXPECT_EQ(test, open_without_memory(&refpmu_uncore.pmu, code, 2), 0);
	KUNIT_EXPECT_EQ(test, failing_unreleased(), held);
}

static void setup_aux_without_memory_returns_null_and_leaks_nothing(struct kunit *test)
{
	const unsigned int held = failing_unreleased();
	unsigned long page = get_zeroed_page(GFP_KERNEL);
	void *pages[] = { (void *)page };
	unsigned int n;
	void *area = NULL;

	VERIFIES(test, "DRC-098");
	KUNIT_ASSERT_NE(test, page, 0UL);
	for (n = 1; n < 10; n++) {
		failing_arm(n);
		area = refpmu_trace_setup_aux(NULL, pages, 1, false);
		if (failing_armed())
			break;
		KUNIT_EXPECT_PTR_EQ_MSG(test, area, NULL, "call %u failed", n);
		KUNIT_EXPECT_EQ_MSG(test, failing_unreleased(), held, "call %u failed", n);
	}
	failing_arm(0);
	KUNIT_EXPECT_GT(test, n, 3U);
	KUNIT_EXPECT_NOT_NULL(test, area);
	if (!IS_ERR_OR_NULL(area))
		refpmu_trace_free_aux(area);
	KUNIT_EXPECT_EQ(test, failing_unreleased(), held);
	free_page(page);
}

KUNIT_ARRAY_PARAM(scope, scope_choices, scope_desc);

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(failed_load_releases_everything, scope_gen_params),
	KUNIT_CASE_PARAM(unload_releases_everything, scope_gen_params),
	KUNIT_CASE(event_init_without_memory_fails_without_effect),
	KUNIT_CASE_PARAM(uncore_event_init_without_memory_fails_without_effect, scope_gen_params),
	KUNIT_CASE(setup_aux_without_memory_returns_null_and_leaks_nothing),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_failing",
	.suite_exit = scope_suite_exit,
	.init = scope_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
