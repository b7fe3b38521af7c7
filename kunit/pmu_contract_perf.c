// SPDX-License-Identifier: GPL-2.0-only
/* Cases of pmu_contract: an event under the control of perf. */
#include "pmu_contract.h"

void pmu_contract_kernel_counter_counts(struct kunit *test)
{
	struct dut *dut = test->priv;
	struct perf_event *event = dut->events[FIRST];
	u64 enabled, running, count, now;

	VERIFIES(test, "DRV-033");
	if (!contract_begin(test))
		return;
	dut_del(dut, FIRST);
	perf_event_enable(event);
	count = perf_event_read_value(event, &enabled, &running);
	do {
		dut_wait(dut, 0);
		now = perf_event_read_value(event, &enabled, &running);
		/* The times of an event may come from a clock that advances only with the tick. */
	} while ((now == count || !running) && enabled < NSEC_PER_SEC);
	KUNIT_EXPECT_TRUE_MSG(test, now > count, "it does not count");
	KUNIT_EXPECT_TRUE_MSG(test, running && running <= enabled, "%llu ns of %llu", running,
			      enabled);
	perf_event_disable(event);
	count = dut_count(dut, FIRST);
	KUNIT_EXPECT_TRUE_MSG(test,
			      perf_event_read_value(event, &enabled, &running) == count,
			      "disabled, it goes on counting");
}
