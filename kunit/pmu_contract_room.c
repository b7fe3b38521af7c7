// SPDX-License-Identifier: GPL-2.0-only
/* Cases of pmu_contract: the number of events that fit, and the behavior beyond it. */
#include "pmu_contract.h"

/* The fields of a disabled event that every driver uses. */
struct pmu_contract_books {
	int idx;
	int state;
	u64 count;
	u64 prev_count;
};

static struct pmu_contract_books books_of(const struct perf_event *event)
{
	return (struct pmu_contract_books){
		.idx = event->hw.idx,
		.state = event->hw.state,
		.count = local64_read(&event->count),
		.prev_count = local64_read(&event->hw.prev_count),
	};
}

static bool same_books(const struct pmu_contract_books *a, const struct pmu_contract_books *b)
{
	return a->idx == b->idx && a->state == b->state && a->count == b->count &&
	       a->prev_count == b->prev_count;
}

void pmu_contract_failed_add_leaves_nothing(struct kunit *test)
{
	struct live *live = test->priv;
	struct pmu_contract_books before, after;
	unsigned int n;
	int err;

	KEEPS(test, "DRC-045", "DRC-046", "DRV-006");
	if (!live_is_whole(test))
		return;
	n = live_fill(live);
	if (n == live->n_events) {
		kunit_mark_skipped(test, "no add fails: %u events are on at once", n);
		return;
	}
	KUNIT_EXPECT_TRUE_MSG(test, n, "the first add fails");
	if (!n)
		return;
	before = books_of(live->events[n]);
	err = live_add(live, n, live_how(live));
	after = books_of(live->events[n]);
	KUNIT_EXPECT_TRUE_MSG(test, err, "what was refused is added now");
	KUNIT_EXPECT_TRUE_MSG(test, same_books(&before, &after),
			      "index %d and state %#x, then %d and %#x", before.idx, before.state,
			      after.idx, after.state);
	/*
	 * The other events keep their counters. A deleted event makes room for exactly one event.
	 */
	live_del(live, n - 1);
	err = live_add(live, n, live_how(live));
	KUNIT_EXPECT_TRUE_MSG(test, !err, "there is room, and add: %d", err);
	if (err)
		return;
	err = live_add(live, n - 1, live_how(live));
	KUNIT_EXPECT_TRUE_MSG(test, err, "there was room for more");
}

void pmu_contract_full_pmu_takes_new_events(struct kunit *test)
{
	struct live *live = test->priv;
	unsigned int n;
	int err;

	KEEPS(test, "DRC-027");
	if (!live_is_whole(test))
		return;
	n = live_fill(live);
	if (n == live->n_events || live->pmu->capabilities & PERF_PMU_CAP_EXCLUSIVE) {
		kunit_mark_skipped(test, "the PMU is never full: %u events are on at once", n);
		return;
	}
	while (live->n_events > n + 1)
		live_close(live);
	err = live_try(live, &live->attr, live->cpu, NULL);
	KUNIT_EXPECT_TRUE_MSG(test, !err, "%u events are on, and a new one cannot be opened: %d", n,
			      err);
}

void pmu_contract_group_is_judged_whole_however_busy_the_pmu_is(struct kunit *test)
{
	struct live *live = test->priv;
	struct live_group group;
	unsigned int fit;

	KEEPS(test, "DRC-022", "DRC-023", "DRC-027", "DRC-037");
	if (!contract_fill(test, &fit))
		return;
	group = live_ask_group(live, LIVE_EVENTS, LIVE_NONE);
	if (!group.err) {
		kunit_mark_skipped(test, "the driver judges no groups: %u are taken", group.taken);
		return;
	}
	KUNIT_EXPECT_TRUE_MSG(test, group.taken == fit, "%u fit, and a group of %u is refused: %d",
			      fit, group.taken + 1, group.err);
	KUNIT_EXPECT_TRUE_MSG(test, !group.destroy, "refused, and a destructor left");
	KUNIT_EXPECT_TRUE_MSG(test, !group.touched, "the leader is not as it was");
}

/* A software event must not reduce the number of events that fit. */
static void expect_room_beside(struct kunit *test, enum live_software software)
{
	struct live_group group;
	unsigned int fit;

	if (!contract_fill(test, &fit))
		return;
	group = live_ask_group(test->priv, fit, software);
	KUNIT_EXPECT_TRUE_MSG(test, group.taken == fit,
			      "%u fit, and beside a software event the one after %u is refused: %d",
			      fit, group.taken, group.err);
	KUNIT_EXPECT_TRUE_MSG(test, !group.touched, "the leader is not as it was");
}

void pmu_contract_software_leader_needs_no_counter(struct kunit *test)
{
	KEEPS(test, "DRC-024", "DRC-025");
	expect_room_beside(test, LIVE_LEADS);
}

void pmu_contract_software_member_needs_no_counter(struct kunit *test)
{
	KEEPS(test, "DRC-024", "DRC-025");
	expect_room_beside(test, LIVE_JOINS);
}

void pmu_contract_events_that_are_on_share_no_counter(struct kunit *test)
{
	struct live *live = test->priv;
	unsigned int n, i, j;

	KEEPS(test, "DRC-050", "DRC-087", "DRV-034");
	if (!live_is_whole(test))
		return;
	n = live_fill(live);
	for (i = 0; i < n; i++) {
		const int index = live->pmu->event_idx(live->events[i]);

		KUNIT_EXPECT_TRUE_MSG(test, index >= 0, "event %u has index %d", i, index);
		for (j = 0; index && j < i; j++)
			KUNIT_EXPECT_TRUE_MSG(test,
					      live->pmu->event_idx(live->events[j]) != index,
					      "events %u and %u have index %d", j, i, index);
	}
	KUNIT_EXPECT_TRUE_MSG(test, n, "no event can be added");
}

void pmu_contract_every_event_that_is_on_counts(struct kunit *test)
{
	struct live *live = test->priv;
	unsigned int n, i;

	KEEPS(test, "DRC-046", "DRC-050", "DRV-034");
	if (!contract_begin(test))
		return;
	live_del(live, ALONE);
	n = live_fill(live);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_TRUE_MSG(test, live_moves_one(live, i),
				      "event %u of %u does not count", i, n);
}
