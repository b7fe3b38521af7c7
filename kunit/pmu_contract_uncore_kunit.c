// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite for any driver, on the system-wide PMU of refpmu. */
#include "uncore/uncore.h"
#include "pmu_contract.h"

#define REQUESTS 0x0101

static void request(void)
{
	unsigned long irqs;

	raw_spin_lock_irqsave(&refpmu_uncore.lock, irqs);
	refpmu_model_pulse(&refpmu_uncore.model, REQUESTS, 1, REFPMU_KERNEL, true);
	raw_spin_unlock_irqrestore(&refpmu_uncore.lock, irqs);
}

static int contract_init(struct kunit *test)
{
	static const struct dut_target target = {
		.pmu = "refpmu_uncore",
		.config = REQUESTS,
		.generate = request,
	};

	return dut_init(test, &target);
}

static struct kunit_case cases[] = {
#include "pmu_contract_list.h"
	, {}
};

static struct kunit_suite suite = {
	.name = "pmu_contract_uncore",
	.init = contract_init,
	.exit = dut_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
