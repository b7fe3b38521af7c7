// SPDX-License-Identifier: GPL-2.0-only
/* The register bus: the only path from the driver to the device. It logs every access. */
#include "bus.h"
#include "port/clock.h"

/*
 * The driver derives every register number and value from parameters that it gave to the device
 * itself. A rejected access is therefore a bug in the driver.
 */
u64 refpmu_bus_read(struct refpmu_cpu *cpuc, u32 reg)
{
	u64 value = 0;

	lockdep_assert_irqs_disabled();
	refpmu_clock_sync(cpuc);
	WARN_ON_ONCE(refpmu_model_read(&cpuc->model, reg, &value));
	refpmu_journal_note(&cpuc->journal, REFPMU_LOG_READ, reg, value, 0);
	return value;
}

void refpmu_bus_write(struct refpmu_cpu *cpuc, u32 reg, u64 value)
{
	lockdep_assert_irqs_disabled();
	refpmu_clock_sync(cpuc);
	WARN_ON_ONCE(refpmu_model_write(&cpuc->model, reg, value));
	refpmu_journal_note(&cpuc->journal, REFPMU_LOG_WRITE, reg, value, 0);
}
