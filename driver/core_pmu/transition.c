// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of an event, and the drain of precise records. They call each other: an event that
 * stops drains its records, and a record after which perf wants no more samples stops its event.
 */
#include "core/record.h"
#include "counter.h"
#include "precise.h"
#include "sample.h"
#include "transition.h"

/**
 * refpmu_apply_op() - Perform a transition of an event's state.
 * @cpuc: State of this CPU.
 * @event: The event; it has a counter.
 * @op: The operation.
 *
 * A reload begins a new count. It therefore also acknowledges an overflow that the counter still
 * shows, which may belong to the counter's previous owner.
 *
 * Context: On the CPU of @cpuc, interrupts off; the handler is masked or running.
 */
void refpmu_apply_op(struct refpmu_cpu *cpuc, struct perf_event *event, enum refpmu_op op)
{
	struct hw_perf_event *hwc = &event->hw;
	const struct refpmu_step step = refpmu_state_step(hwc->state, op);

	WARN_ON_ONCE(step.actions & REFPMU_DO_WARN);
	if (step.actions & REFPMU_DO_DISABLE) {
		refpmu_counter_disable(cpuc, hwc);
		cpuc->running--;
		hwc->state |= PERF_HES_STOPPED;
		if (hwc->flags & REFPMU_HW_PRECISE) {
			/* The last records become samples while the event owns the counter. */
			refpmu_precise_disable(cpuc, event);
			refpmu_precise_drain(cpuc);
		}
	}
	if (step.actions & REFPMU_DO_FOLD)
		refpmu_update(cpuc, event);
	if (step.actions & REFPMU_DO_RELOAD) {
		refpmu_ack(cpuc, BIT_ULL(hwc->idx));
		refpmu_set_period(cpuc, event);
	}
	hwc->state = step.next;
	if (step.actions & REFPMU_DO_ENABLE) {
		if (hwc->flags & REFPMU_HW_PRECISE) {
			/* The buffer must not contain records of two layouts. */
			refpmu_precise_drain(cpuc);
			refpmu_precise_enable(cpuc, event);
		}
		refpmu_counter_enable(cpuc, hwc);
		cpuc->running++;
	}
	perf_event_update_userpage(event);
}

/* Fold a counter that has wrapped once and that the device has reloaded with a whole period. */
static void fold_period(const struct refpmu_cpu *cpuc, struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	const u64 mask = refpmu_low_bits(cpuc->model.params.width);
	const u64 prev = local64_read(&hwc->prev_count);

	local64_add((0 - prev) & mask, &event->count);
	local64_set(&hwc->prev_count, (0 - hwc->last_tag) & mask);
	local64_set(&hwc->period_left, hwc->last_tag);
	hwc->last_period = hwc->last_tag;
}

/*
 * Handle a record of counter @idx: a period has ended, or a part of a period that is longer than
 * the counter's range.
 */
static void end_period(struct refpmu_cpu *cpuc, unsigned int idx,
		       const struct refpmu_record *record, u64 *muted)
{
	struct refpmu_precise *p = &cpuc->precise;
	struct perf_event *event = cpuc->owner[idx];
	const u64 enabled = p->enabled;
	bool elapsed = true;
	int stop;

	if (!event || !(event->hw.flags & REFPMU_HW_PRECISE))
		return;
	if (p->reloaded & BIT_ULL(idx)) {
		fold_period(cpuc, event);
	} else {
		refpmu_update(cpuc, event);
		elapsed = refpmu_set_period(cpuc, event);
	}
	perf_event_update_userpage(event);
	if (!elapsed)
		return;
	/*
	 * perf wants no more samples. The count must still be right, so this comes after the fold.
	 */
	if (*muted & BIT_ULL(idx))
		return;
	stop = refpmu_sample_record(cpuc, event, record, !p->left[idx]);
	/* Newer kernels stop all events of the group, and a sample would end that. */
	*muted |= enabled & ~p->enabled;
	if (!stop)
		return;
	*muted |= BIT_ULL(idx);
	if (!(event->hw.state & PERF_HES_STOPPED))
		refpmu_apply_op(cpuc, event, REFPMU_OP_STOP);
}

/*
 * Count the records of each counter from @offset to @size. Only the last record of a counter is
 * reported as an overflow.
 */
static void count_records(struct refpmu_precise *p, u64 offset, u64 size)
{
	struct refpmu_record record;
	u64 bits;

	memset(p->left, 0, sizeof(p->left));
	while (refpmu_record_next(p->memory->words, size, &offset, &record) > 0) {
		for (bits = record.counters; bits; bits &= bits - 1)
			p->left[__ffs64(bits)]++;
	}
}

static u64 filled(const struct refpmu_precise *p)
{
	return refpmu_record_filled(refpmu_buffer_base(p), REFPMU_BUFFER_BYTES,
				    READ_ONCE(p->memory->area.pebs_index));
}

/**
 * refpmu_precise_drain() - Convert all records to samples and empty the buffer.
 * @cpuc: State of this CPU.
 *
 * Writing a sample may read an event, which would drain the buffer again. Such a read gets the
 * count as of the current record.
 *
 * Context: On the CPU of @cpuc, interrupts off; the handler is masked or running.
 */
void refpmu_precise_drain(struct refpmu_cpu *cpuc)
{
	struct refpmu_precise *p = &cpuc->precise;
	struct refpmu_record record;
	u64 offset = 0, size = 0, muted = 0, bits;

	if (p->draining || !p->memory)
		return;
	p->draining = true;
	for (;;) {
		if (offset == size) {
			size = filled(p);
			if (offset >= size)
				break;
			count_records(p, offset, size);
		}
		/* Data after an invalid record cannot be trusted. */
		if (refpmu_record_next(p->memory->words, size, &offset, &record) <= 0)
			break;
		for (bits = record.counters; bits; bits &= bits - 1) {
			p->left[__ffs64(bits)]--;
			end_period(cpuc, __ffs64(bits), &record, &muted);
		}
	}
	WRITE_ONCE(p->memory->area.pebs_index, refpmu_buffer_base(p));
	p->draining = false;
}

/**
 * refpmu_precise_read() - Prepare to read an event.
 * @cpuc: State of this CPU.
 * @event: The event.
 *
 * The function drains the records of a precise event.
 *
 * Context: On the CPU of @cpuc, interrupts off; the handler is masked or running.
 * Return: false if the caller must not fold the counter. That is so if the event is up to date, or
 * if the counter is ahead of the record that is being drained.
 */
bool refpmu_precise_read(struct refpmu_cpu *cpuc, struct perf_event *event)
{
	struct refpmu_precise *p = &cpuc->precise;

	if (!(event->hw.flags & REFPMU_HW_PRECISE))
		return true;
	if (p->draining)
		return !(p->reloaded & BIT_ULL(event->hw.idx));
	refpmu_precise_drain(cpuc);
	return !(event->hw.state & PERF_HES_UPTODATE);
}
