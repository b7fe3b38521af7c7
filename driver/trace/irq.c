// SPDX-License-Identifier: GPL-2.0-only
/* The interrupt of refpmu_trace: the threshold of the buffer is reached. */
#include "trace.h"

/* Limit of handler runs for one interrupt, after which the line counts as an interrupt storm. */
#define TRACE_RUNS 64

/* Return true while the line is up and not held back by the stimulus port. */
bool refpmu_trace_line(const struct refpmu_trace_cpu *t)
{
	return refpmu_model_line(&t->model) && !t->line_held;
}

/* Raise the interrupt of @t on its own CPU. It arrives when interrupts are on. */
void refpmu_trace_raise(struct refpmu_trace_cpu *t)
{
	t->runs = 0;
	irq_work_queue(&t->pmi);
}

/* Pass the written records to the reader, and give the device the next window. */
static void next_window(struct refpmu_trace_cpu *t, struct perf_event *event)
{
	if (!refpmu_trace_close(t) && refpmu_trace_open(t, event))
		return;
	/* perf is about to disable the event. */
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

/* Acknowledge first, so that a later threshold raises the line again. */
static void handle(struct refpmu_trace_cpu *t)
{
	const u64 status = refpmu_trace_read(t, REFPMU_REG_GLOBAL_STATUS) & REFPMU_STATUS_DS;
	struct perf_event *event = t->event;

	local64_inc(&t->journal.pmi);
	if (status) {
		local64_inc(&t->journal.pmi_claimed);
		refpmu_trace_write(t, REFPMU_REG_GLOBAL_STATUS_RESET, status);
		if (event && !(event->hw.state & PERF_HES_STOPPED))
			next_window(t, event);
	}
	refpmu_journal_note(&t->journal, REFPMU_LOG_PMI, status != 0, status, 0);
}

static void pmi(struct irq_work *work)
{
	struct refpmu_trace_cpu *t = container_of(work, struct refpmu_trace_cpu, pmi);

	/*
	 * The CPU of @t went offline meanwhile and was reset, and the irq_work runs on another CPU.
	 */
	if (t->cpu != smp_processor_id())
		return;
	t->runs++;
	handle(t);
	if (refpmu_trace_line(t) && t->runs < TRACE_RUNS)
		irq_work_queue(&t->pmi);
}

/*
 * The irq_work runs in hard interrupt context on every kernel, PREEMPT_RT included, like the
 * interrupt of a real device.
 */
void refpmu_trace_irq_setup(struct refpmu_trace_cpu *t)
{
	t->pmi = IRQ_WORK_INIT_HARD(pmi);
}
