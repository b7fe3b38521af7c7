// SPDX-License-Identifier: GPL-2.0-only
/* Cases of pmu_contract: transactions. */
#include "pmu_contract.h"

void pmu_contract_transaction_with_one_event_commits(struct kunit *test)
{
	struct dut *dut = test->priv;
	int err, added;

	VERIFIES(test, "DRC-082", "DRV-003", "DRV-016");
	if (!dut_has_callbacks(test))
		return;
	dut_txn_start(dut);
	added = dut_call_add(dut, FIRST, dut_start_flag(dut));
	err = added ?: dut_txn_commit(dut);
	if (err) {
		if (!added)
			dut_call_del(dut, FIRST);
		dut_txn_cancel(dut);
	}
	KUNIT_EXPECT_TRUE_MSG(test, !added, "add: %d", added);
	KUNIT_EXPECT_TRUE_MSG(test, !err, "commit_txn: %d", err);
	if (!err && !dut->target->idle)
		KUNIT_EXPECT_TRUE_MSG(test, dut_counts(dut), "committed, it does not count");
}

void pmu_contract_add_after_a_transaction_is_not_part_of_it(struct kunit *test)
{
	struct dut *dut = test->priv;
	int err;

	VERIFIES(test, "DRC-082", "DRV-016");
	if (!dut_has_callbacks(test))
		return;
	dut_txn_start(dut);
	err = dut_call_add(dut, FIRST, dut_start_flag(dut));
	if (!err)
		err = dut_txn_commit(dut);
	KUNIT_EXPECT_TRUE_MSG(test, !err, "in a transaction: %d", err);
	if (err) {
		dut_txn_cancel(dut);
		return;
	}
	dut_del(dut, FIRST);
	err = dut_add(dut, FIRST, dut_start_flag(dut));
	KUNIT_EXPECT_TRUE_MSG(test, !err, "after a transaction, add: %d", err);
	if (!err && !dut->target->idle)
		KUNIT_EXPECT_TRUE_MSG(test, dut_counts(dut), "added after it, it does not count");
}

void pmu_contract_cancelled_transaction_does_not_affect_other_events(struct kunit *test)
{
	struct dut *dut = test->priv;
	unsigned int other = dut->n_events;
	int err;

	VERIFIES(test, "DRC-049", "DRC-082", "DRV-006", "DRV-018");
	if (!contract_begin(test))
		return;
	if (!dut_open(dut)) {
		kunit_mark_skipped(test, "a second event cannot be opened");
		return;
	}
	dut_txn_start(dut);
	err = dut_call_add(dut, other, dut_start_flag(dut));
	if (!err)
		dut_call_del(dut, other);
	dut_txn_cancel(dut);
	KUNIT_EXPECT_TRUE_MSG(test, dut_counts(dut), "it was on before, and does not count");
	dut_del(dut, FIRST);
	err = dut_add(dut, FIRST, PERF_EF_START);
	KUNIT_EXPECT_TRUE_MSG(test, !err, "added again: %d", err);
	if (err)
		return;
	KUNIT_EXPECT_TRUE_MSG(test, dut_counts(dut), "added again, it does not count");
	/* A second event must not replace the first one. */
	if (!dut_add(dut, other, dut_start_flag(dut)))
		KUNIT_EXPECT_TRUE_MSG(test, dut_counts(dut), "beside another it does not count");
}

void pmu_contract_cancelled_transactions_leak_no_counter(struct kunit *test)
{
	struct dut *dut = test->priv;
	unsigned int i;
	int err = 0;

	VERIFIES(test, "DRC-049", "DRC-082", "DRV-006", "DRV-018");
	if (!dut_has_callbacks(test))
		return;
	/* Repeat this, to detect a leak of each cancelled transaction. */
	for (i = 0; i < ROUNDS && !err; i++) {
		dut_txn_start(dut);
		err = dut_call_add(dut, FIRST, dut_start_flag(dut));
		if (!err)
			dut_call_del(dut, FIRST);
		dut_txn_cancel(dut);
	}
	KUNIT_EXPECT_TRUE_MSG(test, !err, "add in transaction %u: %d", i, err);
	err = dut_add(dut, FIRST, dut_start_flag(dut));
	KUNIT_EXPECT_TRUE_MSG(test, !err, "add afterwards: %d", err);
	if (!err && !dut->target->idle)
		KUNIT_EXPECT_TRUE_MSG(test, dut_counts(dut), "afterwards it does not count");
}

void pmu_contract_cancelled_transaction_restores_the_free_counters(struct kunit *test)
{
	struct dut *dut = test->priv;
	unsigned int fit, n;
	int err;

	VERIFIES(test, "DRC-050", "DRC-082", "DRV-006", "DRV-018", "DRV-034");
	if (!contract_fill(test, &fit))
		return;
	for (n = 1; n < fit; n++)
		dut_del(dut, n);
	dut_txn_start(dut);
	err = dut_call_add(dut, 1, dut_start_flag(dut));
	if (!err)
		dut_call_del(dut, 1);
	dut_txn_cancel(dut);
	for (n = 1; n < dut->n_events; n++) {
		if (dut_add(dut, n, dut_start_flag(dut)))
			break;
	}
	KUNIT_EXPECT_TRUE_MSG(test, n == fit, "%u fit before, and %u beside one that is on", fit,
			      n);
}

/*
 * Add all open events in one transaction. Return true if it was committed; otherwise it is still
 * open.
 */
static bool add_all(struct dut *dut, unsigned int *n)
{
	dut_txn_start(dut);
	for (*n = 0; *n < dut->n_events; ++*n) {
		if (dut_call_add(dut, *n, dut_start_flag(dut)))
			return false;
	}
	return !dut_txn_commit(dut);
}

void pmu_contract_failed_group_transaction_is_undone(struct kunit *test)
{
	struct dut *dut = test->priv;
	unsigned int fit, n, again;
	bool whole;

	VERIFIES(test, "DRC-082", "DRV-016", "DRV-017", "DRV-018");
	if (!contract_fill(test, &fit))
		return;
	for (n = 0; n < fit; n++)
		dut_del(dut, n);
	/* One event too many. */
	while (dut->n_events > fit + 1)
		dut_close(dut);
	whole = add_all(dut, &n);
	if (!whole) {
		while (n--)
			dut_call_del(dut, n);
		dut_txn_cancel(dut);
	}
	KUNIT_EXPECT_TRUE_MSG(test, !whole, "%u fit one by one, and %u together", fit, fit + 1);
	if (whole)
		return;
	/* As many events as before still fit, in one transaction. */
	dut_close(dut);
	whole = add_all(dut, &again);
	if (!whole) {
		for (n = again; n--;)
			dut_call_del(dut, n);
		dut_txn_cancel(dut);
	}
	KUNIT_EXPECT_TRUE_MSG(test, whole, "%u fit before, and now %u", fit, again);
}

void pmu_contract_read_transaction_does_not_disturb_counting(struct kunit *test)
{
	struct dut *dut = test->priv;
	u64 from, to;
	int err;

	VERIFIES(test, "DRC-083", "DRV-019");
	if (!contract_begin(test))
		return;
	from = dut_count(dut, FIRST);
	dut_lock(dut);
	dut->pmu->start_txn(dut->pmu, PERF_PMU_TXN_READ);
	dut_call_read(dut, FIRST);
	err = dut->pmu->commit_txn(dut->pmu);
	dut_unlock(dut);
	to = dut_count(dut, FIRST);
	KUNIT_EXPECT_TRUE_MSG(test, !err, "commit_txn: %d", err);
	KUNIT_EXPECT_TRUE_MSG(test, to >= from, "%llu, then %llu", from, to);
	KUNIT_EXPECT_TRUE_MSG(test, !dut_flags(dut, FIRST), "its flags are %#x",
			      dut_flags(dut, FIRST));
	KUNIT_EXPECT_TRUE_MSG(test, dut_counts(dut), "it does not count any more");
}
