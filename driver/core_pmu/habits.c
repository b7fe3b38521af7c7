// SPDX-License-Identifier: GPL-2.0-only
/* Parameters of the module: habits of processors and faults of hardware, with their limits. */
#include <linux/module.h>

#include "cpu.h"
#include "port/habit.h"

#define HABIT(habit, type, text) \
	module_param_named(habit, refpmu_habits.habit, type, 0444); \
	MODULE_PARM_DESC(habit, "habit: " text)

HABIT(skid, uint, "instructions between an overflow and its interrupt");
HABIT(skid_varies, bool, "the skid is random, from 1 on");
HABIT(skid_survives, bool, "a stop of the PMU does not deliver the interrupt of an overflow");
HABIT(vary_ppm, uint, "instructions and branches are off by up to so many millionths in a run");
HABIT(instructions_ppm, uint, "millionths of an event that an instruction counts");
HABIT(branches_ppm, uint, "millionths of an event that a branch counts");
HABIT(seed, uint, "of random habits, at least 1");
HABIT(held, ulong, "set of counters that another user holds");
HABIT(stuck, ulong, "set of counters that count nothing");
HABIT(idle_stops, bool, "general counters do not count the work of an idle CPU");
HABIT(misses_below, uint, "an overflow after fewer events is missed");
HABIT(loses, uint, "one of so many interrupts is lost");
HABIT(jumps_back, uint, "one of so many updates of a count takes 1000 events from it");

static int check(const char *name, u64 value, u64 min, u64 max)
{
	if (value >= min && value <= max)
		return 0;
	pr_err("refpmu: %s=%llu: must be %llu to %llu\n", name, value, min, max);
	return -EINVAL;
}

/* Habits are those of the work clock. */
static int check_work(bool work)
{
	const struct refpmu_habits *h = &refpmu_habits;

	if (work || !(h->skid || h->skid_varies || h->skid_survives || h->vary_ppm || h->held ||
		      h->stuck || h->idle_stops || h->misses_below || h->loses ||
		      h->jumps_back || h->instructions_ppm != REFPMU_HABIT_ONE ||
		      h->branches_ppm != REFPMU_HABIT_ONE))
		return 0;
	pr_err("refpmu: a habit needs work=1\n");
	return -EINVAL;
}

int refpmu_habits_check(bool work)
{
	const struct refpmu_habits *h = &refpmu_habits;

	return check_work(work) ?: check("skid", h->skid, 0, 1000000) ?:
	       check("vary_ppm", h->vary_ppm, 0, 100000) ?:
	       check("instructions_ppm", h->instructions_ppm, 100000, 10000000) ?:
	       check("branches_ppm", h->branches_ppm, 100000, 10000000) ?:
	       check("seed", h->seed, 1, UINT_MAX) ?:
	       check("held", h->held, 0, refpmu_low_bits(REFPMU_MAX_COUNTERS)) ?:
	       check("stuck", h->stuck, 0, refpmu_low_bits(REFPMU_MAX_COUNTERS)) ?:
	       check("misses_below", h->misses_below, 0, 32767);
}
