// SPDX-License-Identifier: GPL-2.0-only
/* A machine with two kinds of core: what they are, and which event may run on which. */
#include "refpmu.h"

static const struct {
	const char *name;
	u8 general;
	u8 fixed;
	u8 width;
	bool whole; /* with branch records and precise records, if the module is asked for them */
} kinds[REFPMU_MAX_DEVICES] = {
	{ .name = "refpmu_big", .general = 6, .fixed = 3, .width = 48, .whole = true },
	{ .name = "refpmu_little", .general = 2, .fixed = 1, .width = 40 },
};

/* The even CPUs are big, the odd ones little. @dev has what is the same for all kinds. */
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

/* Where events of @pmu count; elsewhere perf does not even try. */
bool refpmu_runs_on(struct pmu *pmu, int cpu)
{
	return cpumask_test_cpu(cpu, &to_refpmu(pmu)->supported);
}
