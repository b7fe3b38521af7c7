// SPDX-License-Identifier: GPL-2.0-only
/*
 * Precise events: the memory that the device writes records to, and the counters that write them.
 * transition.c converts the records to counts and samples.
 *
 * When a counter ends a period, the device writes a record and loads the counter with its reset
 * value. If the period is fixed and fits into the counter, the reset value is the whole period.
 * Each record then stands for one period, and the count is the sum of these periods and the current
 * value of the counter. Otherwise the reset value is 0, as if the counter had just overflowed. The
 * driver then drains the record at once and programs the rest of the period itself, as for other
 * events.
 */
#include <linux/sched/clock.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "bus.h"
#include "compat/compat.h"
#include "core/period.h"
#include "core/record.h"
#include "port/interrupt.h"
#include "precise.h"

/*
 * Fields of a sample that are in the record, or that do not change until the next context switch.
 */
#define BUFFERABLE                                                                           \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |      \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |       \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_DATA_SRC |               \
	 PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR)

/*
 * Memory access of the device. The device can reach only the memory of its own CPU, even if a
 * register or the DS area has a bad address.
 */
void *refpmu_precise_access(void *context, u64 address, u64 size)
{
	const struct refpmu_cpu *cpuc = context;
	const u64 base = (u64)(uintptr_t)cpuc->precise.memory;
	const u64 all = sizeof(*cpuc->precise.memory);

	if (!base || address & 7 || address < base || size > all || address - base > all - size)
		return NULL;
	return (void *)(uintptr_t)address;
}

u64 refpmu_record_time(void)
{
	return local_clock();
}

/**
 * refpmu_precise_setup() - Allocate the record memory of a CPU.
 * @cpuc: The CPU.
 *
 * Nothing is allocated if the device has no records. May sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int refpmu_precise_setup(struct refpmu_cpu *cpuc)
{
	if (!cpuc->dev->caps.records)
		return 0;
	cpuc->precise.memory = kvzalloc(sizeof(*cpuc->precise.memory), GFP_KERNEL);
	return cpuc->precise.memory ? 0 : -ENOMEM;
}

void refpmu_precise_free(struct refpmu_cpu *cpuc)
{
	kvfree(cpuc->precise.memory);
}

/* Restore the power-on state. The CPU has no events. */
void refpmu_precise_reset(struct refpmu_cpu *cpuc)
{
	struct refpmu_precise *p = &cpuc->precise;

	p->enabled = 0;
	p->reloaded = 0;
	p->prompt = 0;
	p->data_cfg = 0;
	p->draining = false;
	if (p->memory)
		memset(&p->memory->area, 0, sizeof(p->memory->area));
}

/* Set up the DS area for records of the current layout. The buffer must be empty. */
static void set_up_area(struct refpmu_precise *p)
{
	struct refpmu_ds *area = &p->memory->area;
	const u64 base = refpmu_buffer_base(p);
	const u64 record = refpmu_record_size(p->data_cfg);
	const u64 room = REFPMU_BUFFER_BYTES / record * record;
	/*
	 * An eighth of the buffer is reserved for records that arrive before the interrupt is
	 * handled.
	 */
	const u64 wait = room - room / 8 / record * record;

	area->pebs_base = base;
	area->pebs_maximum = base + room;
	area->pebs_threshold = base + (p->prompt ? record : wait);
	WRITE_ONCE(area->pebs_index, base);
}

/* Return true if samples of @event may be written later than its events happen. */
static bool can_be_buffered(const struct refpmu_precise *p, const struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (!(p->reloaded & BIT_ULL(event->hw.idx)) || attr->sample_type & ~BUFFERABLE)
		return false;
	if (attr->use_clockid && attr->sample_type & PERF_SAMPLE_TIME)
		return false;
	/*
	 * A signal that is requested later (F_SETFL) has no effect on this until the event is
	 * restarted.
	 */
	if (refpmu_compat_has_signals(event))
		return false;
	/*
	 * A user that reacts to single samples, or to a certain number of samples, needs them at
	 * once.
	 */
	return !attr->sigtrap && !(attr->wakeup_events && !attr->watermark) &&
	       !atomic_read(&event->event_limit) && !refpmu_compat_has_program(event);
}

/**
 * refpmu_precise_reload() - Set the reset value of an event's counter.
 * @cpuc: State of this CPU.
 * @event: The event.
 * @raw: The value with which its counter was just programmed.
 */
void refpmu_precise_reload(struct refpmu_cpu *cpuc, struct perf_event *event, u64 raw)
{
	struct refpmu_precise *p = &cpuc->precise;
	const struct hw_perf_event *hwc = &event->hw;
	const unsigned int width = cpuc->model.params.width;
	const u64 left = local64_read(&hwc->period_left);
	const u64 period = hwc->last_tag;
	u64 reset = 0;

	p->reloaded &= ~BIT_ULL(hwc->idx);
	if (!event->attr.freq && period <= refpmu_period_counting(width) &&
	    raw == ((0 - left) & refpmu_low_bits(width))) {
		p->reloaded |= BIT_ULL(hwc->idx);
		reset = (0 - period) & refpmu_low_bits(width);
	}
	WRITE_ONCE(p->memory->area.reset[hwc->idx], reset);
}

/**
 * refpmu_precise_enable() - Let the counter of an event write records.
 * @cpuc: State of this CPU.
 * @event: The event.
 *
 * The buffer is empty: the function may change the layout of the records.
 */
void refpmu_precise_enable(struct refpmu_cpu *cpuc, struct perf_event *event)
{
	struct refpmu_precise *p = &cpuc->precise;
	const u64 bit = BIT_ULL(event->hw.idx);

	if (!p->enabled)
		refpmu_bus_write(cpuc, REFPMU_REG_DS_AREA, (u64)(uintptr_t)&p->memory->area);
	p->data_cfg = (p->enabled ? p->data_cfg : 0) | event->hw.event_base_rdpmc;
	p->enabled |= bit;
	p->prompt &= ~bit;
	if (!can_be_buffered(p, event))
		p->prompt |= bit;
	set_up_area(p);
	refpmu_bus_write(cpuc, REFPMU_REG_PEBS_DATA_CFG, p->data_cfg);
	refpmu_bus_write(cpuc, REFPMU_REG_PEBS_ENABLE, p->enabled);
}

/**
 * refpmu_precise_disable() - Stop the counter of an event from writing records.
 * @cpuc: State of this CPU.
 * @event: The event; its counter is disabled.
 *
 * Its last records are still in the buffer.
 */
void refpmu_precise_disable(struct refpmu_cpu *cpuc, struct perf_event *event)
{
	struct refpmu_precise *p = &cpuc->precise;
	const u64 bit = BIT_ULL(event->hw.idx);

	p->enabled &= ~bit;
	p->prompt &= ~bit;
	refpmu_bus_write(cpuc, REFPMU_REG_PEBS_ENABLE, p->enabled);
}
