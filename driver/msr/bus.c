// SPDX-License-Identifier: GPL-2.0-only
/* Register accesses by the driver, to the model of its CPU. */
#include <linux/pgtable.h>

#include <asm/cpu_entry_area.h>
#include <asm/tsc.h>

#include "msr.h"

DEFINE_PER_CPU(struct refpmu_cpu, refpmu_msr_cpus);

u64 refpmu_record_time(void)
{
	return rdtsc_ordered();
}

static bool contains(const void *object, size_t room, u64 address, u64 size)
{
	const u64 base = (u64)(uintptr_t)object;

	return address >= base && size <= room && address - base <= room - size;
}

/*
 * The kernel frees the buffers of all CPUs and notifies only the online ones. The pages are then
 * PAGE_NONE, for which pte_present() returns true, so check _PAGE_PRESENT.
 */
static bool mapped(u64 address)
{
	unsigned int level;
	const pte_t *pte = lookup_address(address, &level);

	return pte && pte_flags(*pte) & _PAGE_PRESENT;
}

/*
 * Memory access of the monitor. It can reach only the debug store of its own CPU, while that is
 * mapped, even if a register or the DS area has a bad address.
 */
static void *records(void *context, u64 address, u64 size)
{
	const struct cpu_entry_area *area = get_cpu_entry_area(smp_processor_id());

	if (!contains(&area->cpu_debug_store, sizeof(area->cpu_debug_store), address, size) &&
	    !contains(&area->cpu_debug_buffers, sizeof(area->cpu_debug_buffers), address, size))
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
	if (refpmu_msr_lacks_status(refpmu_msr_processor.kind))
		WARN_ON_ONCE(refpmu_model_write(m, REFPMU_REG_GLOBAL_CTRL, all));
}

/*
 * Return the state of this CPU; interrupts off. The first access may come before any setup
 * function, so it also powers the model on. Memory that must be allocated comes later.
 */
static struct refpmu_cpu *local_cpu(void)
{
	struct refpmu_cpu *cpuc = this_cpu_ptr(&refpmu_msr_cpus);

	if (!cpuc->model.params.general)
		power_on(&cpuc->model);
	return cpuc;
}

static void log_access(struct refpmu_cpu *cpuc, enum refpmu_log_kind kind, u32 reg, u64 value)
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
	cpuc = local_cpu();
	refpmu_clock_sync(cpuc);
	err = refpmu_model_read(&cpuc->model, reg, value);
	if (!err) {
		log_access(cpuc, REFPMU_LOG_READ, reg, *value);
		*value = refpmu_msr_read_value(processor->kind, &processor->params, reg, *value);
	}
	local_irq_restore(irqs);
	return err;
}

/*
 * A register write may change the time of the next overflow. A timer cannot be set in an NMI, so
 * the irq_work does it. After the monitor's own NMI, after() does it.
 */
static void rearm(struct refpmu_cpu *cpuc)
{
	if (!cpuc->journal.entries || cpuc->in_handler || !refpmu_model_counting(&cpuc->model))
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
	cpuc = local_cpu();
	refpmu_clock_sync(cpuc);
	value = refpmu_msr_written_value(processor->kind, &processor->params, reg, value);
	err = refpmu_model_write(&cpuc->model, reg, value);
	if (!err) {
		log_access(cpuc, REFPMU_LOG_WRITE, reg, value);
		if (reg == REFPMU_REG_GLOBAL_STATUS_RESET)
			refpmu_msr_acknowledged();
		rearm(cpuc);
	}
	local_irq_restore(irqs);
	return err;
}
