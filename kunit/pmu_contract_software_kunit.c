// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite for any driver, on perf's software events: no counter, no interrupt. */
#include "pmu_contract.h"

static void happen(void)
{
	struct pt_regs regs;

	perf_fetch_caller_regs(&regs);
	perf_sw_event(PERF_COUNT_SW_EMULATION_FAULTS, 1, &regs, 0);
}

static int contract_init(struct kunit *test)
{
	static const struct dut_target target = {
		.pmu = "software",
		.config = PERF_COUNT_SW_EMULATION_FAULTS,
		.generate = happen,
	};

	return dut_init(test, &target);
}

static struct kunit_case cases[] = {
#include "pmu_contract_list.h"
	, {}
};

static struct kunit_suite suite = {
	.name = "pmu_contract_software",
	.init = contract_init,
	.exit = dut_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
