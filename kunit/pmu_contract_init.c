// SPDX-License-Identifier: GPL-2.0-only
/* Cases of pmu_contract: results of event_init, and the state that it leaves. */
#include <linux/err.h>

#include "pmu_contract.h"

void pmu_contract_event_of_another_type_returns_enoent(struct kunit *test)
{
	struct dut *dut = test->priv;
	struct perf_event_attr attr = dut->attr;
	bool destroy;
	int err;

	VERIFIES(test, "DRC-015", "DRC-017", "DRC-018", "DRC-036", "DRC-037", "INI-003");
	attr.type = DUT_FOREIGN;
	err = dut_event_init(dut, &attr, &destroy);
	KUNIT_EXPECT_TRUE_MSG(test, err == -ENOENT, "event_init: %d", err);
	KUNIT_EXPECT_TRUE_MSG(test, !destroy, "a destructor of an event of nobody");
	attr.config = ~0ULL;
	attr.config1 = ~0ULL;
	attr.config2 = ~0ULL;
	err = dut_event_init(dut, &attr, &destroy);
	KUNIT_EXPECT_TRUE_MSG(test, err == -ENOENT, "event_init, of any config: %d", err);
	err = dut_try(dut, &attr, dut->cpu, NULL);
	KUNIT_EXPECT_TRUE_MSG(test, err == -ENOENT, "somebody answers %d", err);
}

/* An attr that is combined with that of the event. */
struct pmu_contract_unusual {
	const char *what;
	struct perf_event_attr attr;
};

static const struct pmu_contract_unusual unusual_attrs[] = {
	{ "every bit of config", { .config = ~0ULL } },
	{ "every bit of config1", { .config1 = ~0ULL } },
	{ "every bit of config2", { .config2 = ~0ULL } },
	{ "the shortest period", { .sample_period = 1 } },
	{ "the longest period", { .sample_period = ~0ULL >> 1 } },
	{ "a frequency", { .sample_freq = 1000, .freq = 1 } },
	{ "precise", { .precise_ip = 3 } },
	{ "precise, sampling", { .precise_ip = 3, .sample_period = 1000 } },
	{ "branches", { .sample_period = 1000, .sample_type = PERF_SAMPLE_BRANCH_STACK,
			.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER } },
	{ "no user", { .exclude_user = 1 } },
	{ "no kernel", { .exclude_kernel = 1 } },
	{ "no hypervisor", { .exclude_hv = 1 } },
	{ "no idle", { .exclude_idle = 1 } },
	{ "no host", { .exclude_host = 1 } },
	{ "no guest", { .exclude_guest = 1 } },
};

static struct perf_event_attr unusual_attr(const struct dut *dut,
					   const struct pmu_contract_unusual *odd)
{
	struct perf_event_attr attr = odd->attr;

	attr.type = dut->attr.type;
	attr.size = dut->attr.size;
	attr.config |= dut->attr.config;
	attr.config1 |= dut->attr.config1;
	attr.config2 |= dut->attr.config2;
	attr.disabled = 1;
	return attr;
}

void pmu_contract_unusual_attrs_are_accepted_or_rejected_completely(struct kunit *test)
{
	struct dut *dut = test->priv;
	unsigned int i;

	VERIFIES(test, "DRC-015", "DRC-020", "DRC-037");
	if (dut_is_software(dut)) {
		kunit_mark_skipped(test, "the type of a software PMU is that of several");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(unusual_attrs); i++) {
		const struct perf_event_attr attr = unusual_attr(dut, &unusual_attrs[i]);
		bool destroy;
		const int err = dut_event_init(dut, &attr, &destroy);

		KUNIT_EXPECT_TRUE_MSG(test, err <= 0 && err >= -MAX_ERRNO, "%s: %d is no errno",
				      unusual_attrs[i].what, err);
		KUNIT_EXPECT_TRUE_MSG(test, err != -ENOENT, "%s: disowned", unusual_attrs[i].what);
		KUNIT_EXPECT_TRUE_MSG(test, !err || !destroy, "%s: refused, and a destructor left",
				      unusual_attrs[i].what);
	}
}

static bool is_rejection(int err)
{
	return err == -EOPNOTSUPP || err == -EINVAL;
}

void pmu_contract_sampling_is_rejected_without_interrupt(struct kunit *test)
{
	struct dut *dut = test->priv;
	struct perf_event_attr attr = dut->attr;
	int err;

	VERIFIES(test, "DRC-033", "DRC-036");
	if (!(dut->pmu->capabilities & PERF_PMU_CAP_NO_INTERRUPT)) {
		kunit_mark_skipped(test, "the PMU does not say that it has no interrupt");
		return;
	}
	/* perf itself rejects this only for user space. */
	attr.sample_period = 1000;
	err = dut_try(dut, &attr, dut->cpu, NULL);
	KUNIT_EXPECT_TRUE_MSG(test, is_rejection(err), "with a period: %d", err);
	attr.freq = 1;
	err = dut_try(dut, &attr, dut->cpu, NULL);
	KUNIT_EXPECT_TRUE_MSG(test, is_rejection(err), "with a frequency: %d", err);
}

void pmu_contract_system_wide_pmu_rejects_task_events(struct kunit *test)
{
	struct dut *dut = test->priv;
	int err;

	VERIFIES(test, "DRC-028", "DRC-036");
	if (dut->pmu->task_ctx_nr != perf_invalid_context) {
		kunit_mark_skipped(test, "the PMU is not machine-wide: tasks have events of it");
		return;
	}
	err = dut_try(dut, &dut->attr, -1, current);
	KUNIT_EXPECT_TRUE_MSG(test, is_rejection(err), "of a task: %d", err);
	err = dut_try(dut, &dut->attr, dut->cpu, current);
	KUNIT_EXPECT_TRUE_MSG(test, is_rejection(err), "of a task on a CPU: %d", err);
}

void pmu_contract_exclusion_is_rejected_without_support(struct kunit *test)
{
	struct dut *dut = test->priv;
	unsigned int i;

	VERIFIES(test, "DRC-032");
	if (!(dut->pmu->capabilities & PERF_PMU_CAP_NO_EXCLUDE)) {
		kunit_mark_skipped(test, "the PMU does not say that it cannot exclude");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(unusual_attrs); i++) {
		const struct perf_event_attr attr = unusual_attr(dut, &unusual_attrs[i]);
		int err;

		if (!attr.exclude_user && !attr.exclude_kernel && !attr.exclude_hv &&
		    !attr.exclude_idle && !attr.exclude_host && !attr.exclude_guest)
			continue;
		err = dut_try(dut, &attr, dut->cpu, NULL);
		KUNIT_EXPECT_TRUE_MSG(test, err == -EINVAL, "%s: %d", unusual_attrs[i].what, err);
	}
}

/* The destructor of the observed event, and the number of its calls. */
static struct {
	void (*destroy)(struct perf_event *event);
	unsigned int calls;
} watched;

static void watch_destroy(struct perf_event *event)
{
	watched.calls++;
	watched.destroy(event);
}

void pmu_contract_destructor_runs_once(struct kunit *test)
{
	struct dut *dut = test->priv;
	struct perf_event *event = dut->events[FIRST];

	VERIFIES(test, "DRC-038", "DRV-015");
	if (!event->destroy) {
		kunit_mark_skipped(test, "the driver has no destructor");
		return;
	}
	watched.destroy = event->destroy;
	watched.calls = 0;
	event->destroy = watch_destroy;
	dut_close(dut);
	KUNIT_EXPECT_TRUE_MSG(test, watched.calls == 1, "it ran %u times", watched.calls);
}
