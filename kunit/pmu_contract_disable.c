// SPDX-License-Identifier: GPL-2.0-only
/* Cases of pmu_contract: disabling and enabling the whole PMU. */
#include "pmu_contract.h"

void pmu_contract_nothing_counts_while_the_pmu_is_disabled(struct kunit *test)
{
	struct dut *dut = test->priv;
	u64 pace, counts[4];
	int n = 0;

	VERIFIES(test, "DRC-080", "DRV-003");
	pace = contract_begin(test);
	if (!pace)
		return;
	if (dut->pmu->task_ctx_nr != perf_hw_context && !dut_stops_when_off(dut, pace)) {
		kunit_mark_skipped(test, "nothing switches this PMU off as a whole");
		return;
	}
	dut_lock(dut);
	dut_pmu_disable(dut);
	counts[n++] = dut_call_read(dut, FIRST);
	dut_pmu_disable(dut);
	dut_wait(dut, pace);
	counts[n++] = dut_call_read(dut, FIRST);
	dut_pmu_enable(dut);
	dut_wait(dut, pace);
	counts[n++] = dut_call_read(dut, FIRST);
	dut_pmu_enable(dut);
	dut_unlock(dut);
	KUNIT_EXPECT_TRUE_MSG(test, counts[1] == counts[0], "off: %llu, then %llu", counts[0],
			      counts[1]);
	KUNIT_EXPECT_TRUE_MSG(test, counts[2] == counts[1],
			      "off twice, and on once: %llu, then %llu", counts[1], counts[2]);
	KUNIT_EXPECT_TRUE_MSG(test, dut_counts(dut), "it does not count any more");
}
