// SPDX-License-Identifier: GPL-2.0-only
/* Accesses of the driver to the registers of the model of its CPU. */
#include <linux/pgtable.h>

#include <asm/cpu_entry_area.h>
#include <asm/tsc.h>

#include "msr.h"

DEFINE_PER_CPU(struct refpmu_cpu, refpmu_msr_cpus);

u64 refpmu_record_time(void)
{
	return rdtsc_ordered();
}

static bool holds(const void *object, size_t room, u64 address, u64 size)
{
	const u64 base = (u64)(uintptr_t)object;

	return address >= base && size <= room && address - base <= room - size;
}

/*
 * The kernel takes the buffers of all CPUs back, and tells those of them that are online. What it
 * leaves is PAGE_NONE, which pte_present() takes for a page.
 */
static bool mapped(u64 address)
{
	unsigned int level;
	const pte_t *pte = lookup_address(address, &level);

	return pte && pte_flags(*pte) & _PAGE_PRESENT;
}

/*
 * The monitor's way to memory. Whatever a register or the area says: it reaches nothing but what
 * the kernel keeps for that of its CPU, as long as that is there.
 */
static void *records(void *context, u64 address, u64 size)
{
	const struct cpu_entry_area *area = get_cpu_entry_area(smp_processor_id());

	if (!holds(&area->cpu_debug_store, sizeof(area->cpu_debug_store), address, size) &&
	    !holds(&area->cpu_debug_buffers, sizeof(area->cpu_debug_buffers), address, size))
		return NULL;
	if (!mapped(address) || !mapped(address + size - 1))
		return NULL;
	return (void *)(uintptr_t)address;
}

static void power_on(struct refpmu_model *m)
{
	struct refpmu_model_params params = refpmu_msr_processor.params;
	const u64 all = refpmu_low_bits(params.general);

	params.memory = records;
	WARN_ON_ONCE(refpmu_model_reset(m, &params));
	if (refpmu_msr_is_bare(refpmu_msr_processor.kind))
		WARN_ON_ONCE(refpmu_model_write(m, REFPMU_REG_GLOBAL_CTRL, all));
}

/*
 * This CPU's, interrupts off. It is there from the first access on, which may come before anything
 * could be set up, but for what must be allocated.
 */
static struct refpmu_cpu *here(void)
{
	struct refpmu_cpu *cpuc = this_cpu_ptr(&refpmu_msr_cpus);

	if (!cpuc->model.params.general)
		power_on(&cpuc->model);
	return cpuc;
}

static void note(struct refpmu_cpu *cpuc, enum refpmu_log_kind kind, u32 reg, u64 value)
{
	if (cpuc->journal.entries)
		refpmu_journal_note(&cpuc->journal, kind, reg, value, 0);
}

int refpmu_msr_read(u32 reg, u64 *value)
{
	const struct refpmu_msr_processor *processor = &refpmu_msr_processor;
	struct refpmu_cpu *cpuc;
	unsigned long irqs;
	int err;

	local_irq_save(irqs);
	cpuc = here();
	refpmu_clock_sync(cpuc);
	err = refpmu_model_read(&cpuc->model, reg, value);
	if (!err) {
		note(cpuc, REFPMU_LOG_READ, reg, *value);
		*value = refpmu_msr_shown(processor->kind, &processor->params, reg, *value);
	}
	local_irq_restore(irqs);
	return err;
}

/*
 * Counters that count may have something else to wait for now. A timer cannot be set in an NMI; if
 * that is the monitor's own, its end sees to it.
 */
static void rearm(struct refpmu_cpu *cpuc)
{
	if (!cpuc->journal.entries || cpuc->serving || !refpmu_model_counting(&cpuc->model))
		return;
	if (in_nmi())
		irq_work_queue(&cpuc->pmi);
	else
		refpmu_clock_arm(cpuc);
}

int refpmu_msr_write(u32 reg, u64 value)
{
	const struct refpmu_msr_processor *processor = &refpmu_msr_processor;
	struct refpmu_cpu *cpuc;
	unsigned long irqs;
	int err;

	local_irq_save(irqs);
	cpuc = here();
	refpmu_clock_sync(cpuc);
	value = refpmu_msr_value(processor->kind, &processor->params, reg, value);
	err = refpmu_model_write(&cpuc->model, reg, value);
	if (!err) {
		note(cpuc, REFPMU_LOG_WRITE, reg, value);
		if (reg == REFPMU_REG_GLOBAL_STATUS_RESET)
			refpmu_msr_acknowledged();
		rearm(cpuc);
	}
	local_irq_restore(irqs);
	return err;
}
