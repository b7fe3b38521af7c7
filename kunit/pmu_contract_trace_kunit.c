// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite for any driver, on the trace PMU of refpmu, which cannot start without an AUX area.
 */
#include "pmu_contract.h"

static int contract_init(struct kunit *test)
{
	static const struct dut_target target = {
		.pmu = "refpmu_trace",
		.idle = true,
	};

	return dut_init(test, &target);
}

static struct kunit_case cases[] = {
#include "pmu_contract_list.h"
	, {}
};

static struct kunit_suite suite = {
	.name = "pmu_contract_trace",
	.init = contract_init,
	.exit = dut_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
