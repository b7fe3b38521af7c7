// SPDX-License-Identifier: GPL-2.0-only
/* A machine with two core types: their parameters, and the CPUs of each. */
#include "hybrid.h"

static const struct {
	const char *name;
	u8 general;
	u8 fixed;
	u8 width;
	/* has branch records and precise records, if the module parameters request them */
	bool whole;
} kinds[REFPMU_MAX_DEVICES] = {
	{ .name = "refpmu_big", .general = 6, .fixed = 3, .width = 48, .whole = true },
	{ .name = "refpmu_little", .general = 2, .fixed = 1, .width = 40 },
};

/*
 * Set the parameters of core type @kind: even CPUs are big, odd CPUs are little. The caller has set
 * the parameters that all core types have in common.
 */
void refpmu_hybrid_describe(struct refpmu_device *dev, unsigned int kind)
{
	unsigned int cpu;

	dev->name = kinds[kind].name;
	dev->params.general = kinds[kind].general;
	dev->params.fixed = kinds[kind].fixed;
	dev->params.width = kinds[kind].width;
	if (!kinds[kind].whole) {
		dev->params.lbr = 0;
		dev->params.records = false;
	}
	cpumask_clear(&dev->supported);
	for_each_possible_cpu(cpu) {
		if (cpu % REFPMU_MAX_DEVICES == kind)
			cpumask_set_cpu(cpu, &dev->supported);
	}
}

/* Return true if events of @pmu count on @cpu. perf does not add them on any other CPU. */
bool refpmu_runs_on(struct pmu *pmu, int cpu)
{
	return cpumask_test_cpu(cpu, &to_refpmu(pmu)->supported);
}
