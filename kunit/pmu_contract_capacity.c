// SPDX-License-Identifier: GPL-2.0-only
/* Cases of pmu_contract: the number of events that fit, and the behavior beyond it. */
#include "pmu_contract.h"

/* The fields of a disabled event that every driver uses. */
struct pmu_contract_state {
	int idx;
	int state;
	u64 count;
	u64 prev_count;
};

static struct pmu_contract_state state_of(const struct perf_event *event)
{
	return (struct pmu_contract_state){
		.idx = event->hw.idx,
		.state = event->hw.state,
		.count = local64_read(&event->count),
		.prev_count = local64_read(&event->hw.prev_count),
	};
}

static bool same_state(const struct pmu_contract_state *a, const struct pmu_contract_state *b)
{
	return a->idx == b->idx && a->state == b->state && a->count == b->count &&
	       a->prev_count == b->prev_count;
}

void pmu_contract_failed_add_does_not_change_the_event(struct kunit *test)
{
	struct dut *dut = test->priv;
	struct pmu_contract_state before, after;
	unsigned int n;
	int err;

	VERIFIES(test, "DRC-045", "DRC-046", "DRV-006");
	if (!dut_has_callbacks(test))
		return;
	n = dut_fill(dut);
	if (n == dut->n_events) {
		kunit_mark_skipped(test, "no add fails: %u events are on at once", n);
		return;
	}
	KUNIT_EXPECT_TRUE_MSG(test, n, "the first add fails");
	if (!n)
		return;
	before = state_of(dut->events[n]);
	err = dut_add(dut, n, dut_start_flag(dut));
	after = state_of(dut->events[n]);
	KUNIT_EXPECT_TRUE_MSG(test, err, "what was refused is added now");
	KUNIT_EXPECT_TRUE_MSG(test, same_state(&before, &after),
			      "index %d and state %#x, then %d and %#x", before.idx, before.state,
			      after.idx, after.state);
	/*
	 * The other events keep their counters. A deleted event makes room for exactly one event.
	 */
	dut_del(dut, n - 1);
	err = dut_add(dut, n, dut_start_flag(dut));
	KUNIT_EXPECT_TRUE_MSG(test, !err, "there is room, and add: %d", err);
	if (err)
		return;
	err = dut_add(dut, n - 1, dut_start_flag(dut));
	KUNIT_EXPECT_TRUE_MSG(test, err, "there was room for more");
}

void pmu_contract_event_opens_while_all_counters_are_in_use(struct kunit *test)
{
	struct dut *dut = test->priv;
	unsigned int n;
	int err;

	VERIFIES(test, "DRC-027");
	if (!dut_has_callbacks(test))
		return;
	n = dut_fill(dut);
	if (n == dut->n_events || dut->pmu->capabilities & PERF_PMU_CAP_EXCLUSIVE) {
		kunit_mark_skipped(test, "the PMU is never full: %u events are on at once", n);
		return;
	}
	while (dut->n_events > n + 1)
		dut_close(dut);
	err = dut_try(dut, &dut->attr, dut->cpu, NULL);
	KUNIT_EXPECT_TRUE_MSG(test, !err, "%u events are on, and a new one cannot be opened: %d", n,
			      err);
}

void pmu_contract_group_validation_ignores_running_events(struct kunit *test)
{
	struct dut *dut = test->priv;
	struct dut_group group;
	unsigned int fit;

	VERIFIES(test, "DRC-022", "DRC-023", "DRC-027", "DRC-037");
	if (!contract_fill(test, &fit))
		return;
	group = dut_group_init(dut, DUT_EVENTS, DUT_NONE);
	if (!group.err) {
		kunit_mark_skipped(test, "the driver judges no groups: %u are taken",
				   group.accepted);
		return;
	}
	KUNIT_EXPECT_TRUE_MSG(test, group.accepted == fit,
			      "%u fit, and a group of %u is refused: %d",
			      fit, group.accepted + 1, group.err);
	KUNIT_EXPECT_TRUE_MSG(test, !group.destroy, "refused, and a destructor left");
	KUNIT_EXPECT_TRUE_MSG(test, !group.touched, "the leader is not as it was");
}

/* A software event must not reduce the number of events that fit. */
static void expect_same_capacity(struct kunit *test, enum dut_software software)
{
	struct dut_group group;
	unsigned int fit;

	if (!contract_fill(test, &fit))
		return;
	group = dut_group_init(test->priv, fit, software);
	KUNIT_EXPECT_TRUE_MSG(test, group.accepted == fit,
			      "%u fit, and beside a software event the one after %u is refused: %d",
			      fit, group.accepted, group.err);
	KUNIT_EXPECT_TRUE_MSG(test, !group.touched, "the leader is not as it was");
}

void pmu_contract_software_leader_needs_no_counter(struct kunit *test)
{
	VERIFIES(test, "DRC-024", "DRC-025");
	expect_same_capacity(test, DUT_LEADER);
}

void pmu_contract_software_member_needs_no_counter(struct kunit *test)
{
	VERIFIES(test, "DRC-024", "DRC-025");
	expect_same_capacity(test, DUT_MEMBER);
}

void pmu_contract_running_events_share_no_counter(struct kunit *test)
{
	struct dut *dut = test->priv;
	unsigned int n, i, j;

	VERIFIES(test, "DRC-050", "DRC-087", "DRV-034");
	if (!dut_has_callbacks(test))
		return;
	n = dut_fill(dut);
	for (i = 0; i < n; i++) {
		const int index = dut->pmu->event_idx(dut->events[i]);

		KUNIT_EXPECT_TRUE_MSG(test, index >= 0, "event %u has index %d", i, index);
		for (j = 0; index && j < i; j++)
			KUNIT_EXPECT_TRUE_MSG(test,
					      dut->pmu->event_idx(dut->events[j]) != index,
					      "events %u and %u have index %d", j, i, index);
	}
	KUNIT_EXPECT_TRUE_MSG(test, n, "no event can be added");
}

void pmu_contract_every_running_event_counts(struct kunit *test)
{
	struct dut *dut = test->priv;
	unsigned int n, i;

	VERIFIES(test, "DRC-046", "DRC-050", "DRV-034");
	if (!contract_begin(test))
		return;
	dut_del(dut, FIRST);
	n = dut_fill(dut);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_TRUE_MSG(test, dut_event_counts(dut, i),
				      "event %u of %u does not count", i, n);
}
