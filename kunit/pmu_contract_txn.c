// SPDX-License-Identifier: GPL-2.0-only
/* Cases of pmu_contract: transactions. */
#include "pmu_contract.h"

void pmu_contract_transaction_is_committed(struct kunit *test)
{
	struct live *live = test->priv;
	int err, added;

	KEEPS(test, "DRC-082", "DRV-003", "DRV-016");
	if (!live_is_whole(test))
		return;
	live_txn_start(live);
	added = live_call_add(live, ALONE, live_how(live));
	err = added ?: live_txn_commit(live);
	if (err) {
		if (!added)
			live_call_del(live, ALONE);
		live_txn_cancel(live);
	}
	KUNIT_EXPECT_TRUE_MSG(test, !added, "add: %d", added);
	KUNIT_EXPECT_TRUE_MSG(test, !err, "commit_txn: %d", err);
	if (!err && !live->target->idle)
		KUNIT_EXPECT_TRUE_MSG(test, live_moves(live), "committed, it does not count");
}

void pmu_contract_add_after_a_transaction_is_none_of_it(struct kunit *test)
{
	struct live *live = test->priv;
	int err;

	KEEPS(test, "DRC-082", "DRV-016");
	if (!live_is_whole(test))
		return;
	live_txn_start(live);
	err = live_call_add(live, ALONE, live_how(live));
	if (!err)
		err = live_txn_commit(live);
	KUNIT_EXPECT_TRUE_MSG(test, !err, "in a transaction: %d", err);
	if (err) {
		live_txn_cancel(live);
		return;
	}
	live_del(live, ALONE);
	err = live_add(live, ALONE, live_how(live));
	KUNIT_EXPECT_TRUE_MSG(test, !err, "after a transaction, add: %d", err);
	if (!err && !live->target->idle)
		KUNIT_EXPECT_TRUE_MSG(test, live_moves(live), "added after it, it does not count");
}

void pmu_contract_others_go_on_beside_a_cancelled_transaction(struct kunit *test)
{
	struct live *live = test->priv;
	unsigned int other = live->n_events;
	int err;

	KEEPS(test, "DRC-049", "DRC-082", "DRV-006", "DRV-018");
	if (!contract_begin(test))
		return;
	if (!live_open(live)) {
		kunit_mark_skipped(test, "a second event cannot be opened");
		return;
	}
	live_txn_start(live);
	err = live_call_add(live, other, live_how(live));
	if (!err)
		live_call_del(live, other);
	live_txn_cancel(live);
	KUNIT_EXPECT_TRUE_MSG(test, live_moves(live), "it was on before, and does not count");
	live_del(live, ALONE);
	err = live_add(live, ALONE, PERF_EF_START);
	KUNIT_EXPECT_TRUE_MSG(test, !err, "added again: %d", err);
	if (err)
		return;
	KUNIT_EXPECT_TRUE_MSG(test, live_moves(live), "added again, it does not count");
	/* A second event must not replace the first one. */
	if (!live_add(live, other, live_how(live)))
		KUNIT_EXPECT_TRUE_MSG(test, live_moves(live), "beside another it does not count");
}

void pmu_contract_cancelled_transaction_leaves_nothing(struct kunit *test)
{
	struct live *live = test->priv;
	unsigned int i;
	int err = 0;

	KEEPS(test, "DRC-049", "DRC-082", "DRV-006", "DRV-018");
	if (!live_is_whole(test))
		return;
	/* Repeat this, to detect a leak of each cancelled transaction. */
	for (i = 0; i < TURNS && !err; i++) {
		live_txn_start(live);
		err = live_call_add(live, ALONE, live_how(live));
		if (!err)
			live_call_del(live, ALONE);
		live_txn_cancel(live);
	}
	KUNIT_EXPECT_TRUE_MSG(test, !err, "add in transaction %u: %d", i, err);
	err = live_add(live, ALONE, live_how(live));
	KUNIT_EXPECT_TRUE_MSG(test, !err, "add afterwards: %d", err);
	if (!err && !live->target->idle)
		KUNIT_EXPECT_TRUE_MSG(test, live_moves(live), "afterwards it does not count");
}

void pmu_contract_cancelled_transaction_leaves_the_room_that_it_found(struct kunit *test)
{
	struct live *live = test->priv;
	unsigned int fit, n;
	int err;

	KEEPS(test, "DRC-050", "DRC-082", "DRV-006", "DRV-018", "DRV-034");
	if (!contract_fill(test, &fit))
		return;
	for (n = 1; n < fit; n++)
		live_del(live, n);
	live_txn_start(live);
	err = live_call_add(live, 1, live_how(live));
	if (!err)
		live_call_del(live, 1);
	live_txn_cancel(live);
	for (n = 1; n < live->n_events; n++) {
		if (live_add(live, n, live_how(live)))
			break;
	}
	KUNIT_EXPECT_TRUE_MSG(test, n == fit, "%u fit before, and %u beside one that is on", fit,
			      n);
}

/*
 * Add all open events in one transaction. Return true if it was committed; otherwise it is still
 * open.
 */
static bool add_all(struct live *live, unsigned int *n)
{
	live_txn_start(live);
	for (*n = 0; *n < live->n_events; ++*n) {
		if (live_call_add(live, *n, live_how(live)))
			return false;
	}
	return !live_txn_commit(live);
}

void pmu_contract_group_that_does_not_fit_is_undone(struct kunit *test)
{
	struct live *live = test->priv;
	unsigned int fit, n, again;
	bool whole;

	KEEPS(test, "DRC-082", "DRV-016", "DRV-017", "DRV-018");
	if (!contract_fill(test, &fit))
		return;
	for (n = 0; n < fit; n++)
		live_del(live, n);
	/* One event too many. */
	while (live->n_events > fit + 1)
		live_close(live);
	whole = add_all(live, &n);
	if (!whole) {
		while (n--)
			live_call_del(live, n);
		live_txn_cancel(live);
	}
	KUNIT_EXPECT_TRUE_MSG(test, !whole, "%u fit one by one, and %u together", fit, fit + 1);
	if (whole)
		return;
	/* As many events as before still fit, in one transaction. */
	live_close(live);
	whole = add_all(live, &again);
	if (!whole) {
		for (n = again; n--;)
			live_call_del(live, n);
		live_txn_cancel(live);
	}
	KUNIT_EXPECT_TRUE_MSG(test, whole, "%u fit before, and now %u", fit, again);
}

void pmu_contract_reading_transaction_disturbs_nothing(struct kunit *test)
{
	struct live *live = test->priv;
	u64 from, to;
	int err;

	KEEPS(test, "DRC-083", "DRV-019");
	if (!contract_begin(test))
		return;
	from = live_count(live, ALONE);
	live_lock(live);
	live->pmu->start_txn(live->pmu, PERF_PMU_TXN_READ);
	live_call_read(live, ALONE);
	err = live->pmu->commit_txn(live->pmu);
	live_unlock(live);
	to = live_count(live, ALONE);
	KUNIT_EXPECT_TRUE_MSG(test, !err, "commit_txn: %d", err);
	KUNIT_EXPECT_TRUE_MSG(test, to >= from, "%llu, then %llu", from, to);
	KUNIT_EXPECT_TRUE_MSG(test, !live_flags(live, ALONE), "its flags are %#x",
			      live_flags(live, ALONE));
	KUNIT_EXPECT_TRUE_MSG(test, live_moves(live), "it does not count any more");
}
