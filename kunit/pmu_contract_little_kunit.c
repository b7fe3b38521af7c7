// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite for any driver, on the smaller core type: only some CPUs accept its events. */
#include "core_types.h"
#include "pmu_contract.h"

static int contract_init(struct kunit *test)
{
	static const struct dut_target target = {
		.pmu = "refpmu_little",
		.config = 0x003c, /* cycles, which the clock generates */
	};

	if (!cpu_online(CORE_TYPES_LITTLE_CPU)) {
		kunit_mark_skipped(test, "one CPU");
		return 0;
	}
	return dut_init(test, &target);
}

static struct kunit_case cases[] = {
#include "pmu_contract_list.h"
	, {}
};

static struct kunit_suite suite = {
	.name = "pmu_contract_little",
	.suite_init = core_types_set_up,
	.suite_exit = core_types_tear_down,
	.init = contract_init,
	.exit = dut_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
