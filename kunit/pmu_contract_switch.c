// SPDX-License-Identifier: GPL-2.0-only
/* Cases of pmu_contract: disabling and enabling the whole PMU. */
#include "pmu_contract.h"

void pmu_contract_nothing_counts_while_the_pmu_is_off(struct kunit *test)
{
	struct live *live = test->priv;
	u64 pace, counts[4];
	int n = 0;

	KEEPS(test, "DRC-080", "DRV-003");
	pace = contract_begin(test);
	if (!pace)
		return;
	if (live->pmu->task_ctx_nr != perf_hw_context && !live_holds(live, pace)) {
		kunit_mark_skipped(test, "nothing switches this PMU off as a whole");
		return;
	}
	live_lock(live);
	live_switch_off(live);
	counts[n++] = live_call_read(live, ALONE);
	live_switch_off(live);
	live_wait(live, pace);
	counts[n++] = live_call_read(live, ALONE);
	live_switch_on(live);
	live_wait(live, pace);
	counts[n++] = live_call_read(live, ALONE);
	live_switch_on(live);
	live_unlock(live);
	KUNIT_EXPECT_TRUE_MSG(test, counts[1] == counts[0], "off: %llu, then %llu", counts[0],
			      counts[1]);
	KUNIT_EXPECT_TRUE_MSG(test, counts[2] == counts[1],
			      "off twice, and on once: %llu, then %llu", counts[1], counts[2]);
	KUNIT_EXPECT_TRUE_MSG(test, live_moves(live), "it does not count any more");
}
