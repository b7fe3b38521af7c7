// SPDX-License-Identifier: GPL-2.0-only
/* From the interrupt line to the samples: delivery by NMI or irq_work, and the overflow handler. */
#include <linux/bitops.h>
#include <linux/sched/clock.h>

#include "compat.h"
#include "refpmu.h"

bool refpmu_pmi_is_nmi;

/* True while the line is up where the CPU could see it. */
bool refpmu_line(const struct refpmu_cpu *cpuc)
{
	return refpmu_model_line(&cpuc->model) && !cpuc->held;
}

/* True while an interrupt is on its way, or something that belongs to it. */
bool refpmu_pending(const struct refpmu_cpu *cpuc)
{
	return READ_ONCE(cpuc->raised) || irq_work_is_busy((struct irq_work *)&cpuc->pmi);
}

/*
 * What the interrupt controller does. Said before it is sent: what comes unannounced is not ours.
 */
static void deliver(struct refpmu_cpu *cpuc)
{
	WRITE_ONCE(cpuc->raised, true);
	if (refpmu_pmi_is_nmi)
		refpmu_nmi_send();
	else
		irq_work_queue(&cpuc->pmi);
}

/* Deliver the line of @cpuc, which is this CPU's: an NMI at once, an irq_work once they are on. */
void refpmu_raise_pmi(struct refpmu_cpu *cpuc)
{
	cpuc->runs = 0;
	deliver(cpuc);
}

/*
 * Counter @idx has overflowed. Events that only count are folded and reloaded like any other. What
 * precise ones have to tell is in their records: a status bit of theirs is not of their making.
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
	/* perf wants no more for now: throttled, or the last one it asked for. */
	if (refpmu_sample(cpuc, event))
		refpmu_do(cpuc, event, REFPMU_OP_STOP);
}

static u64 pending(struct refpmu_cpu *cpuc)
{
	const u64 counters = refpmu_low_bits(cpuc->model.params.general) |
			     refpmu_low_bits(cpuc->model.params.fixed) << REFPMU_FIXED_BASE;

	return refpmu_bus_read(cpuc, REFPMU_REG_GLOBAL_STATUS) &
	       (counters | REFPMU_STATUS_DS | REFPMU_STATUS_LBR_FROZEN);
}

/*
 * Handle what is pending: acknowledge exactly that, then see whether more has come. A device that
 * does not come to an end is switched off. Interrupts off.
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
		/* The branches stay frozen until all samples have theirs. */
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
 * The interrupt has come: call the handler, and once more while the line is up. A line that is
 * never acknowledged is left alone after a while, so that a broken driver costs a test and not the
 * CPU.
 */
static void serve(struct refpmu_cpu *cpuc)
{
	const u64 begin = local_clock();
	u64 end;

	cpuc->runs++;
	cpuc->serving = true;
	refpmu_irq(cpuc);
	end = local_clock();
	refpmu_clock_resume(cpuc, end);
	cpuc->serving = false;
	if (refpmu_line(cpuc) && cpuc->runs < REFPMU_IRQ_RUNS)
		deliver(cpuc);
	refpmu_compat_event_took(end - begin);
}

/* True if an interrupt was on its way. One that comes while the handler is kept out waits. */
static bool take(struct refpmu_cpu *cpuc)
{
	if (!cpuc->raised)
		return false;
	WRITE_ONCE(cpuc->raised, false);
	if (cpuc->disable_depth || cpuc->masked)
		cpuc->latched = true;
	else
		serve(cpuc);
	return true;
}

/* Every NMI of this CPU comes by. A timer cannot be set in one, so that is left to the irq_work. */
irqreturn_t refpmu_nmi(struct refpmu_cpu *cpuc)
{
	if (!take(cpuc))
		return IRQ_NONE;
	if (!cpuc->arming)
		irq_work_queue(&cpuc->pmi);
	return IRQ_HANDLED;
}

static void pmi(struct irq_work *work)
{
	struct refpmu_cpu *cpuc = container_of(work, struct refpmu_cpu, pmi);

	/* A CPU that went offline meanwhile was reset; its line is not this CPU's to serve. */
	if (cpuc->cpu != smp_processor_id())
		return;
	if (!refpmu_pmi_is_nmi)
		take(cpuc);
	refpmu_clock_arm(cpuc);
}

/* The same for one who is in a hardware interrupt already, which an irq_work could only repeat. */
void refpmu_raise_pmi_in_irq(struct refpmu_cpu *cpuc)
{
	cpuc->runs = 0;
	if (refpmu_pmi_is_nmi)
		deliver(cpuc);
	else
		serve(cpuc);
}

/* Let the handler in again, and have it look after what came meanwhile. Interrupts off. */
void refpmu_unmask(struct refpmu_cpu *cpuc)
{
	barrier();
	cpuc->masked--;
	if (!cpuc->latched || cpuc->masked || cpuc->disable_depth)
		return;
	cpuc->latched = false;
	deliver(cpuc);
}

/* In hard interrupt context on every kind of kernel, as a device interrupt would be. */
void refpmu_irq_setup(struct refpmu_cpu *cpuc)
{
	cpuc->pmi = IRQ_WORK_INIT_HARD(pmi);
}
