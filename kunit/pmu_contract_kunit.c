// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite for any driver: the contract of struct pmu, for the PMU that the parameters name. */
#include <linux/moduleparam.h>

/* Use the parameter names of the module if the suite is built in. */
#ifndef MODULE
#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "pmu_contract."
#endif

#include "pmu_contract.h"

static char *pmu = "refpmu";
module_param(pmu, charp, 0444);
MODULE_PARM_DESC(pmu, "name of the PMU in /sys/bus/event_source/devices; default: refpmu");

/* Cycles of refpmu, which its clock generates. */
static unsigned long long event = 0x003c;
module_param(event, ullong, 0444);
MODULE_PARM_DESC(event, "config of an event of the PMU that happens while a CPU is busy");

static unsigned long long config1;
module_param(config1, ullong, 0444);
MODULE_PARM_DESC(config1, "config1 of the event");

static unsigned long long config2;
module_param(config2, ullong, 0444);
MODULE_PARM_DESC(config2, "config2 of the event");

static bool idle;
module_param(idle, bool, 0444);
MODULE_PARM_DESC(idle, "the event does not happen by itself: no case is about its count");

static int contract_init(struct kunit *test)
{
	static struct dut_target target;

	target = (struct dut_target){
		.pmu = pmu,
		.config = event,
		.config1 = config1,
		.config2 = config2,
		.idle = idle,
	};
	return dut_init(test, &target);
}

static struct kunit_case cases[] = {
#include "pmu_contract_list.h"
	, {}
};

static struct kunit_suite suite = {
	.name = "pmu_contract",
	.init = contract_init,
	.exit = dut_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit suite of the contract of struct pmu, for any driver");
MODULE_LICENSE("GPL");
