// SPDX-License-Identifier: GPL-2.0-only
/* Cases of pmu_contract: results of event_init, and the state that it leaves. */
#include <linux/err.h>

#include "pmu_contract.h"

void pmu_contract_foreign_types_are_nobodys(struct kunit *test)
{
	struct live *live = test->priv;
	struct perf_event_attr attr = live->attr;
	bool destroy;
	int err;

	KEEPS(test, "DRC-015", "DRC-017", "DRC-018", "DRC-036", "DRC-037", "INI-003");
	attr.type = LIVE_FOREIGN;
	err = live_ask(live, &attr, &destroy);
	KUNIT_EXPECT_TRUE_MSG(test, err == -ENOENT, "event_init: %d", err);
	KUNIT_EXPECT_TRUE_MSG(test, !destroy, "a destructor of an event of nobody");
	attr.config = ~0ULL;
	attr.config1 = ~0ULL;
	attr.config2 = ~0ULL;
	err = live_ask(live, &attr, &destroy);
	KUNIT_EXPECT_TRUE_MSG(test, err == -ENOENT, "event_init, of any config: %d", err);
	err = live_try(live, &attr, live->cpu, NULL);
	KUNIT_EXPECT_TRUE_MSG(test, err == -ENOENT, "somebody answers %d", err);
}

/* An attr that is combined with that of the event. */
struct pmu_contract_odd {
	const char *what;
	struct perf_event_attr attr;
};

static const struct pmu_contract_odd odd_requests[] = {
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

static struct perf_event_attr odd_attr(const struct live *live, const struct pmu_contract_odd *odd)
{
	struct perf_event_attr attr = odd->attr;

	attr.type = live->attr.type;
	attr.size = live->attr.size;
	attr.config |= live->attr.config;
	attr.config1 |= live->attr.config1;
	attr.config2 |= live->attr.config2;
	attr.disabled = 1;
	return attr;
}

void pmu_contract_odd_requests_are_taken_or_refused_whole(struct kunit *test)
{
	struct live *live = test->priv;
	unsigned int i;

	KEEPS(test, "DRC-015", "DRC-020", "DRC-037");
	if (live_is_software(live)) {
		kunit_mark_skipped(test, "the type of a software PMU is that of several");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(odd_requests); i++) {
		const struct perf_event_attr attr = odd_attr(live, &odd_requests[i]);
		bool destroy;
		const int err = live_ask(live, &attr, &destroy);

		KUNIT_EXPECT_TRUE_MSG(test, err <= 0 && err >= -MAX_ERRNO, "%s: %d is no errno",
				      odd_requests[i].what, err);
		KUNIT_EXPECT_TRUE_MSG(test, err != -ENOENT, "%s: disowned", odd_requests[i].what);
		KUNIT_EXPECT_TRUE_MSG(test, !err || !destroy, "%s: refused, and a destructor left",
				      odd_requests[i].what);
	}
}

static bool refuses_what_it_has_not(int err)
{
	return err == -EOPNOTSUPP || err == -EINVAL;
}

void pmu_contract_sampling_is_refused_without_interrupt(struct kunit *test)
{
	struct live *live = test->priv;
	struct perf_event_attr attr = live->attr;
	int err;

	KEEPS(test, "DRC-033", "DRC-036");
	if (!(live->pmu->capabilities & PERF_PMU_CAP_NO_INTERRUPT)) {
		kunit_mark_skipped(test, "the PMU does not say that it has no interrupt");
		return;
	}
	/* perf itself rejects this only for user space. */
	attr.sample_period = 1000;
	err = live_try(live, &attr, live->cpu, NULL);
	KUNIT_EXPECT_TRUE_MSG(test, refuses_what_it_has_not(err), "with a period: %d", err);
	attr.freq = 1;
	err = live_try(live, &attr, live->cpu, NULL);
	KUNIT_EXPECT_TRUE_MSG(test, refuses_what_it_has_not(err), "with a frequency: %d", err);
}

void pmu_contract_events_of_tasks_are_refused_machine_wide(struct kunit *test)
{
	struct live *live = test->priv;
	int err;

	KEEPS(test, "DRC-028", "DRC-036");
	if (live->pmu->task_ctx_nr != perf_invalid_context) {
		kunit_mark_skipped(test, "the PMU is not machine-wide: tasks have events of it");
		return;
	}
	err = live_try(live, &live->attr, -1, current);
	KUNIT_EXPECT_TRUE_MSG(test, refuses_what_it_has_not(err), "of a task: %d", err);
	err = live_try(live, &live->attr, live->cpu, current);
	KUNIT_EXPECT_TRUE_MSG(test, refuses_what_it_has_not(err), "of a task on a CPU: %d", err);
}

void pmu_contract_exclusion_is_refused_where_there_is_none(struct kunit *test)
{
	struct live *live = test->priv;
	unsigned int i;

	KEEPS(test, "DRC-032");
	if (!(live->pmu->capabilities & PERF_PMU_CAP_NO_EXCLUDE)) {
		kunit_mark_skipped(test, "the PMU does not say that it cannot exclude");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(odd_requests); i++) {
		const struct perf_event_attr attr = odd_attr(live, &odd_requests[i]);
		int err;

		if (!attr.exclude_user && !attr.exclude_kernel && !attr.exclude_hv &&
		    !attr.exclude_idle && !attr.exclude_host && !attr.exclude_guest)
			continue;
		err = live_try(live, &attr, live->cpu, NULL);
		KUNIT_EXPECT_TRUE_MSG(test, err == -EINVAL, "%s: %d", odd_requests[i].what, err);
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
	struct live *live = test->priv;
	struct perf_event *event = live->events[ALONE];

	KEEPS(test, "DRC-038", "DRV-015");
	if (!event->destroy) {
		kunit_mark_skipped(test, "the driver has no destructor");
		return;
	}
	watched.destroy = event->destroy;
	watched.calls = 0;
	event->destroy = watch_destroy;
	live_close(live);
	KUNIT_EXPECT_TRUE_MSG(test, watched.calls == 1, "it ran %u times", watched.calls);
}
