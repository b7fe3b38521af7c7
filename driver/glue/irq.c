// SPDX-License-Identifier: GPL-2.0-only
/* From the interrupt line to the samples: delivery by irq_work, and the overflow handler. */
#include <linux/bitops.h>
#include <linux/sched/task_stack.h>

#include "compat.h"
#include "refpmu.h"

/* True while the line is up where the CPU could see it. */
bool refpmu_line(const struct refpmu_cpu *cpuc)
{
	return refpmu_model_line(&cpuc->model) && !cpuc->held;
}

/* Deliver the line of @cpuc, which is this CPU's, once interrupts are on. */
void refpmu_raise(struct refpmu_cpu *cpuc)
{
	cpuc->runs = 0;
	irq_work_queue(&cpuc->pmi);
}

/*
 * The registers that a sample of @event shows, in @copy. An event that excludes the kernel gets
 * user registers even if the interrupt came late and hit the kernel.
 */
static struct pt_regs *sample_regs(struct refpmu_cpu *cpuc, const struct perf_event *event,
				   struct pt_regs *copy)
{
	struct refpmu_cause *cause = &cpuc->cause;
	const bool from_user = cause->privilege == REFPMU_USER;
	const bool user = from_user || event->attr.exclude_kernel;

	if (!user || user_mode(&cause->regs))
		*copy = cause->regs;
	else if (current->mm && !(current->flags & PF_KTHREAD))
		*copy = *task_pt_regs(current);
	else
		refpmu_compat_user_regs(copy);
	if (cause->ip && user == from_user)
		instruction_pointer_set(copy, cause->ip);
	return copy;
}

static int sample(struct refpmu_cpu *cpuc, struct perf_event *event)
{
	struct perf_sample_data data;
	struct pt_regs regs;

	cpuc->stats.overflows++;
	perf_sample_data_init(&data, cpuc->cause.addr, event->hw.last_period);
	return refpmu_compat_overflow(event, &data, sample_regs(cpuc, event, &regs));
}

/* Counter @idx has overflowed. Events that only count are folded and reloaded like any other. */
static void overflow(struct refpmu_cpu *cpuc, unsigned int idx)
{
	struct perf_event *event = cpuc->owner[idx];
	bool elapsed;

	if (!event || event->hw.state & PERF_HES_STOPPED)
		return;
	refpmu_update(cpuc, event);
	elapsed = refpmu_set_period(cpuc, event);
	if (!elapsed || !is_sampling_event(event))
		return;
	/* perf wants no more for now: throttled, or the last one it asked for. */
	if (sample(cpuc, event))
		refpmu_do(cpuc, event, REFPMU_OP_STOP);
}

static u64 pending(struct refpmu_cpu *cpuc)
{
	const u64 counters = refpmu_low_bits(cpuc->model.params.general) |
			     refpmu_low_bits(cpuc->model.params.fixed) << REFPMU_FIXED_BASE;

	return refpmu_bus_read(cpuc, REFPMU_REG_GLOBAL_STATUS) & counters;
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
		refpmu_ack(cpuc, status);
		for (left = status; left; left &= left - 1)
			overflow(cpuc, __ffs64(left));
	}

	cpuc->stats.pmi++;
	cpuc->stats.pmi_claimed += first != 0;
	refpmu_log(cpuc, REFPMU_LOG_PMI, first != 0, first, 0);
	return first ? IRQ_HANDLED : IRQ_NONE;
}

/*
 * What the interrupt controller does: call the handler while the line is up. A line that is never
 * acknowledged is left alone after a while, so that a broken driver costs a test and not the CPU.
 */
void refpmu_serve(struct refpmu_cpu *cpuc)
{
	cpuc->runs++;
	cpuc->serving = true;
	refpmu_irq(cpuc);
	cpuc->serving = false;
	if (refpmu_line(cpuc) && cpuc->runs < REFPMU_IRQ_RUNS)
		irq_work_queue(&cpuc->pmi);
}

static void pmi(struct irq_work *work)
{
	struct refpmu_cpu *cpuc = container_of(work, struct refpmu_cpu, pmi);

	/* A CPU that went offline meanwhile was reset; its line is not this CPU's to serve. */
	if (cpuc->cpu != smp_processor_id())
		return;
	refpmu_serve(cpuc);
	refpmu_clock_arm(cpuc);
}

/* In hard interrupt context on every kind of kernel, as a device interrupt would be. */
void refpmu_irq_setup(struct refpmu_cpu *cpuc)
{
	cpuc->pmi = IRQ_WORK_INIT_HARD(pmi);
}
