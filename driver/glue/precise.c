// SPDX-License-Identifier: GPL-2.0-only
/*
 * Precise events: the memory that the device writes records to, and from records to counts and
 * samples.
 *
 * A counter that ends a period writes a record, and the device goes on with its reset value. If
 * that is a whole period (fixed periods that fit into the counter), each record stands for one
 * period, and the count is what the records say and what the counter shows beside. Otherwise the
 * reset value is 0, and the counter goes on as if it had just overflowed: the record is then taken
 * out at once and the next period programmed by software, as for other events.
 */
#include <linux/sched/clock.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "refpmu.h"

#define BUFFER_BYTES (60 * SZ_1K)

/* What a record holds, or what stays the same until the next task runs. */
#define MAY_WAIT                                                                             \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |      \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |       \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_DATA_SRC |               \
	 PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR)

struct refpmu_precise_memory {
	struct refpmu_ds area;
	u64 words[BUFFER_BYTES / sizeof(u64)];
};

/* Where the buffer is, as the driver knows it; what the area says is the device's affair. */
static u64 buffer_base(const struct refpmu_precise *p)
{
	return (u64)(uintptr_t)p->memory->words;
}

/*
 * The device's way to memory. Whatever a register or the area says: it reaches nothing but the
 * memory of its own CPU.
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

/* The memory of one CPU, if its device makes records; 0 or -ENOMEM. May sleep. */
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

/* As at power-on: the CPU has no event. */
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

/* Lay out the buffer for records of the current layout. It is empty. */
static void lay_out(struct refpmu_precise *p)
{
	struct refpmu_ds *area = &p->memory->area;
	const u64 base = buffer_base(p);
	const u64 record = refpmu_record_size(p->data_cfg);
	const u64 room = BUFFER_BYTES / record * record;
	/* An eighth is left for what is recorded until the interrupt is served. */
	const u64 wait = room - room / 8 / record * record;

	area->pebs_base = base;
	area->pebs_maximum = base + room;
	area->pebs_threshold = base + (p->prompt ? record : wait);
	WRITE_ONCE(area->pebs_index, base);
}

/* True if samples of @event may be made later than its events happen. */
static bool may_wait(const struct refpmu_precise *p, const struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (!(p->reloaded & BIT_ULL(event->hw.idx)) || attr->sample_type & ~MAY_WAIT)
		return false;
	if (attr->use_clockid && attr->sample_type & PERF_SAMPLE_TIME)
		return false;
	/* Signals that are asked for later are late until the event is started again. */
	if (refpmu_compat_has_signals(event))
		return false;
	/* Whoever wants to act on single samples, or on so many of them, wants to do it in time. */
	return !attr->sigtrap && !(attr->wakeup_events && !attr->watermark) &&
	       !atomic_read(&event->event_limit) && !refpmu_compat_has_program(event);
}

/* The counter of @event has been programmed with @raw: say what the device goes on with. */
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

/*
 * Let the counter of @event make records. What was recorded so far is taken out first: records of
 * two layouts are never in the buffer together.
 */
void refpmu_precise_enable(struct refpmu_cpu *cpuc, struct perf_event *event)
{
	struct refpmu_precise *p = &cpuc->precise;
	const u64 bit = BIT_ULL(event->hw.idx);

	refpmu_precise_drain(cpuc);
	if (!p->enabled)
		refpmu_bus_write(cpuc, REFPMU_REG_DS_AREA, (u64)(uintptr_t)&p->memory->area);
	p->data_cfg = (p->enabled ? p->data_cfg : 0) | event->hw.event_base_rdpmc;
	p->enabled |= bit;
	p->prompt &= ~bit;
	if (!may_wait(p, event))
		p->prompt |= bit;
	lay_out(p);
	refpmu_bus_write(cpuc, REFPMU_REG_PEBS_DATA_CFG, p->data_cfg);
	refpmu_bus_write(cpuc, REFPMU_REG_PEBS_ENABLE, p->enabled);
}

/* Its counter stands still. Its last records become samples while it is still the owner. */
void refpmu_precise_disable(struct refpmu_cpu *cpuc, struct perf_event *event)
{
	struct refpmu_precise *p = &cpuc->precise;
	const u64 bit = BIT_ULL(event->hw.idx);

	p->enabled &= ~bit;
	p->prompt &= ~bit;
	refpmu_bus_write(cpuc, REFPMU_REG_PEBS_ENABLE, p->enabled);
	refpmu_precise_drain(cpuc);
}

/* The counter has gone through its top once, and the device has reloaded it with a period. */
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

/* A record says that counter @idx has ended a period, or, if its event has a long one, a part. */
static void period_over(struct refpmu_cpu *cpuc, unsigned int idx,
			const struct refpmu_record *record, u64 *muted)
{
	struct refpmu_precise *p = &cpuc->precise;
	struct perf_event *event = cpuc->owner[idx];
	bool elapsed = true;

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
	/* perf wants no more, but what has been counted has been counted. */
	if (*muted & BIT_ULL(idx))
		return;
	if (!refpmu_sample_record(cpuc, event, record, !p->left[idx]))
		return;
	*muted |= BIT_ULL(idx);
	if (!(event->hw.state & PERF_HES_STOPPED))
		refpmu_do(cpuc, event, REFPMU_OP_STOP);
}

/* How many records each counter has from @offset to @size: only the last one is a full overflow. */
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
	return refpmu_record_filled(buffer_base(p), BUFFER_BYTES,
				    READ_ONCE(p->memory->area.pebs_index));
}

/*
 * Make samples of all records, in their order, and leave the buffer empty. What is read in the
 * course of that may want to drain it too: it finds the counts as of the record at hand. On its
 * CPU, interrupts off, the handler kept out.
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
		/* What is no record has nothing behind it that could be trusted. */
		if (refpmu_record_next(p->memory->words, size, &offset, &record) <= 0)
			break;
		for (bits = record.counters; bits; bits &= bits - 1) {
			p->left[__ffs64(bits)]--;
			period_over(cpuc, __ffs64(bits), &record, &muted);
		}
	}
	WRITE_ONCE(p->memory->area.pebs_index, buffer_base(p));
	p->draining = false;
}

/*
 * Before @event is read: account for its records. False if it must not be folded now, because its
 * counter is ahead of the record at hand.
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
