// SPDX-License-Identifier: GPL-2.0-only
/* The device of refpmu_uncore, and the only path from the driver to its registers. */
#include "uncore.h"

struct refpmu_uncore refpmu_uncore;

static bool counter_of(u32 reg, u32 base, unsigned int general, unsigned int *i)
{
	*i = reg - base;
	return reg >= base && *i < general;
}

/* If @reg is a counter, store its value as the one that the driver knows. */
static void note_access(struct refpmu_uncore *uncore, u32 reg)
{
	const unsigned int general = uncore->params.general;
	unsigned int i;

	if (counter_of(reg, REFPMU_REG_PMC(0), general, &i) ||
	    counter_of(reg, REFPMU_REG_A_PMC(0), general, &i))
		refpmu_model_read(&uncore->model, reg, &uncore->seen[i]);
}

/*
 * The driver derives every register number and value from parameters that it gave to the device
 * itself. A rejected access is therefore a bug in the driver.
 */
u64 refpmu_uncore_bus_read(struct refpmu_uncore *uncore, u32 reg)
{
	u64 value = 0;

	lockdep_assert_held(&uncore->lock);
	WARN_ON_ONCE(refpmu_model_read(&uncore->model, reg, &value));
	note_access(uncore, reg);
	return value;
}

void refpmu_uncore_bus_write(struct refpmu_uncore *uncore, u32 reg, u64 value)
{
	lockdep_assert_held(&uncore->lock);
	WARN_ON_ONCE(refpmu_model_write(&uncore->model, reg, value));
	note_access(uncore, reg);
}
