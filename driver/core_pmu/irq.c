// SPDX-License-Identifier: GPL-2.0-only
/* Deliver the interrupt as an NMI or an irq_work, and handle overflows. */
#include <linux/bitops.h>
#include <linux/sched/clock.h>

#include "bus.h"
#include "compat/compat.h"
#include "counter.h"
#include "irq.h"
#include "port/clock.h"
#include "port/interrupt.h"
#include "sample.h"
#include "transition.h"

bool refpmu_pmi_is_nmi;

/*
 * Do what an interrupt controller does. raised must be set before the NMI is sent: the NMI handler
 * does not claim an NMI unless raised is set.
 */
static void deliver(struct refpmu_cpu *cpuc)
{
	WRITE_ONCE(cpuc->raised, true);
	if (refpmu_pmi_is_nmi)
		refpmu_compat_send_nmi();
	else
		irq_work_queue(&cpuc->pmi);
}

/*
 * Raise the interrupt of @cpuc, on its own CPU. An NMI arrives at once, an irq_work when interrupts
 * are enabled.
 */
void refpmu_raise_pmi(struct refpmu_cpu *cpuc)
{
	cpuc->runs = 0;
	deliver(cpuc);
}

/*
 * Handle an overflow of counter @idx. Events that only count are folded and reloaded too. Precise
 * events are skipped: their overflows are in the records, and their status bits have another cause.
 */
static void overflow(struct refpmu_cpu *cpuc, unsigned int idx)
{
	struct perf_event *event = cpuc->owner[idx];
	bool elapsed;

	if (!event || event->hw.state & PERF_HES_STOPPED ||
	    event->hw.flags & REFPMU_HW_PRECISE)
		return;
	refpmu_update(cpuc, event);
	elapsed = refpmu_set_period(cpuc, event);
	perf_event_update_userpage(event);
	if (!elapsed || !is_sampling_event(event))
		return;
	/*
	 * perf wants no more samples for now: it has throttled the event, or the event's limit of
	 * overflows is reached.
	 */
	if (refpmu_sample(cpuc, event))
		refpmu_apply_op(cpuc, event, REFPMU_OP_STOP);
}

static u64 pending(struct refpmu_cpu *cpuc)
{
	const u64 counters = refpmu_low_bits(cpuc->model.params.general) |
			     refpmu_low_bits(cpuc->model.params.fixed) << REFPMU_FIXED_BASE;

	return refpmu_bus_read(cpuc, REFPMU_REG_GLOBAL_STATUS) &
	       (counters | REFPMU_STATUS_DS | REFPMU_STATUS_LBR_FROZEN);
}

/**
 * refpmu_irq() - The overflow handler.
 * @cpuc: State of this CPU.
 *
 * Each round handles and acknowledges exactly the pending status bits. If bits are still pending
 * after REFPMU_IRQ_ROUNDS rounds, the device is broken and the handler disables it.
 *
 * Context: On the CPU of @cpuc, in an NMI or a hard interrupt; not while the PMU is disabled.
 * Return: IRQ_HANDLED, or IRQ_NONE if nothing was pending.
 */
irqreturn_t refpmu_irq(struct refpmu_cpu *cpuc)
{
	const u64 first = pending(cpuc);
	unsigned int rounds = 0;
	u64 status, left;

	for (status = first; status; status = pending(cpuc)) {
		if (rounds++ == REFPMU_IRQ_ROUNDS) {
			pr_warn_once("refpmu: cpu %d: status %#llx stays pending, PMU off\n",
				     cpuc->cpu, status);
			refpmu_bus_write(cpuc, REFPMU_REG_GLOBAL_CTRL, 0);
			break;
		}
		/* Keep the branch records frozen until all samples have been written. */
		refpmu_ack(cpuc, status & ~REFPMU_STATUS_LBR_FROZEN);
		if (status & REFPMU_STATUS_DS)
			refpmu_precise_drain(cpuc);
		for (left = status & ~(REFPMU_STATUS_DS | REFPMU_STATUS_LBR_FROZEN); left;
		     left &= left - 1)
			overflow(cpuc, __ffs64(left));
		if (status & REFPMU_STATUS_LBR_FROZEN)
			refpmu_ack(cpuc, REFPMU_STATUS_LBR_FROZEN);
	}

	local64_inc(&cpuc->journal.pmi);
	if (first)
		local64_inc(&cpuc->journal.pmi_claimed);
	refpmu_journal_note(&cpuc->journal, REFPMU_LOG_PMI, first != 0, first, 0);
	return first ? IRQ_HANDLED : IRQ_NONE;
}

/*
 * Call the handler, and deliver the interrupt again while the line is up. The number of runs is
 * limited, so that a driver that never acknowledges the line fails a test instead of hanging the
 * CPU.
 */
static void run_handler(struct refpmu_cpu *cpuc)
{
	const u64 begin = local_clock();
	u64 end;

	cpuc->runs++;
	cpuc->in_handler = true;
	refpmu_irq(cpuc);
	end = local_clock();
	refpmu_clock_resume(cpuc, end);
	cpuc->in_handler = false;
	if (refpmu_line(cpuc) && cpuc->runs < REFPMU_IRQ_RUNS)
		deliver(cpuc);
	refpmu_compat_event_took(end - begin);
}

/*
 * Handle a raised interrupt; return false if none was raised. If the handler is masked, or the PMU
 * is disabled, the interrupt stays pending.
 */
static bool handle_raised(struct refpmu_cpu *cpuc)
{
	if (!cpuc->raised)
		return false;
	WRITE_ONCE(cpuc->raised, false);
	if (cpuc->disable_depth || cpuc->masked)
		cpuc->latched = true;
	else
		run_handler(cpuc);
	return true;
}

/**
 * refpmu_nmi() - Handle an NMI of this CPU.
 * @cpuc: State of this CPU.
 *
 * The kernel calls this for every NMI, whatever its source. A timer cannot be set in an NMI, so the
 * irq_work does that later.
 *
 * Context: On the CPU of @cpuc, in an NMI.
 * Return: IRQ_HANDLED if the NMI was raised by this driver, otherwise IRQ_NONE.
 */
irqreturn_t refpmu_nmi(struct refpmu_cpu *cpuc)
{
	if (!handle_raised(cpuc))
		return IRQ_NONE;
	if (!cpuc->arming)
		irq_work_queue(&cpuc->pmi);
	return IRQ_HANDLED;
}

static void pmi(struct irq_work *work)
{
	struct refpmu_cpu *cpuc = container_of(work, struct refpmu_cpu, pmi);

	/*
	 * The CPU of @cpuc went offline meanwhile and was reset, and the irq_work runs on another
	 * CPU.
	 */
	if (cpuc->cpu != smp_processor_id())
		return;
	if (!refpmu_pmi_is_nmi)
		handle_raised(cpuc);
	refpmu_clock_arm(cpuc);
}

/*
 * Raise the interrupt from a hard interrupt. An irq_work could run only after the current
 * interrupt, so without NMIs the handler is called directly.
 */
void refpmu_raise_pmi_in_irq(struct refpmu_cpu *cpuc)
{
	cpuc->runs = 0;
	if (refpmu_pmi_is_nmi)
		deliver(cpuc);
	else
		run_handler(cpuc);
}

/**
 * refpmu_unmask() - Undo refpmu_mask().
 * @cpuc: State of this CPU.
 *
 * If an interrupt arrived meanwhile, the function delivers it now.
 *
 * Context: On the CPU of @cpuc, interrupts off.
 */
void refpmu_unmask(struct refpmu_cpu *cpuc)
{
	barrier();
	cpuc->masked--;
	if (!cpuc->latched || cpuc->masked || cpuc->disable_depth)
		return;
	cpuc->latched = false;
	deliver(cpuc);
}

/*
 * The irq_work runs in hard interrupt context on every kernel, PREEMPT_RT included, like the
 * interrupt of a real device.
 */
void refpmu_irq_setup(struct refpmu_cpu *cpuc)
{
	cpuc->pmi = IRQ_WORK_INIT_HARD(pmi);
}
