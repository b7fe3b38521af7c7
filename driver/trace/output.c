// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write the trace to the AUX area. A transaction (from perf_aux_output_begin() to
 * perf_aux_output_end()) gives the device a window of the buffer. The interrupt, or stop, ends the
 * transaction and reports the number of bytes to perf.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat/compat.h"
#include "trace.h"

/**
 * refpmu_trace_setup_aux() - Prepare an AUX area.
 * @event: The event.
 * @pages: Pages of the area.
 * @nr_pages: Number of pages.
 * @overwrite: New data overwrites old data (snapshot mode).
 *
 * The device writes to linear addresses, so the function maps the pages contiguously. The PMU then
 * does not need PERF_PMU_CAP_AUX_NO_SG.
 *
 * Return: The buffer; NULL for any failure, because perf does not check for an error pointer.
 */
void *refpmu_trace_setup_aux(struct perf_event *event, void **pages, int nr_pages, bool overwrite)
{
	struct refpmu_trace_buffer *buffer = NULL;
	struct page **list;
	int i;

	list = kvmalloc_array(nr_pages, sizeof(*list), GFP_KERNEL);
	if (!list)
		return NULL;
	for (i = 0; i < nr_pages; i++)
		list[i] = virt_to_page(pages[i]);

	buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);
	if (buffer) {
		buffer->size = (u64)nr_pages << PAGE_SHIFT;
		buffer->snapshot = overwrite;
		buffer->base = vmap(list, nr_pages, VM_MAP, PAGE_KERNEL);
		if (!buffer->base) {
			kfree(buffer);
			buffer = NULL;
		}
	}
	kvfree(list);
	return buffer;
}

void refpmu_trace_free_aux(void *aux)
{
	struct refpmu_trace_buffer *buffer = aux;

	vunmap(buffer->base);
	kfree(buffer);
}

static bool inside(const void *base, u64 length, u64 address, u64 size)
{
	const u64 start = (uintptr_t)base;

	return address >= start && size <= length && address - start <= length - size;
}

/* Memory access of the device: only to its DS area and to the buffer of the open transaction. */
void *refpmu_trace_memory(void *context, u64 address, u64 size)
{
	struct refpmu_trace_cpu *t = context;

	if (inside(&t->ds, sizeof(t->ds), address, size))
		return (void *)(uintptr_t)address;
	if (t->buffer && inside(t->buffer->base, t->buffer->size, address, size))
		return (void *)(uintptr_t)address;
	return NULL;
}

u64 refpmu_trace_read(struct refpmu_trace_cpu *t, u32 reg)
{
	u64 value = 0;

	WARN_ON_ONCE(refpmu_model_read(&t->model, reg, &value));
	refpmu_journal_note(&t->journal, REFPMU_LOG_READ, reg, value, 0);
	return value;
}

void refpmu_trace_write(struct refpmu_trace_cpu *t, u32 reg, u64 value)
{
	WARN_ON_ONCE(refpmu_model_write(&t->model, reg, value));
	refpmu_journal_note(&t->journal, REFPMU_LOG_WRITE, reg, value, 0);
}

/**
 * refpmu_trace_switch() - Start or stop the device as the transaction and the pause require.
 * @t: State of this CPU.
 * @event: The event.
 *
 * Another event can pause and resume this one from an NMI. The loop detects a change that happens
 * during the register write.
 */
void refpmu_trace_switch(struct refpmu_trace_cpu *t, const struct perf_event *event)
{
	bool paused;

	do {
		const u64 control = READ_ONCE(t->control);

		paused = refpmu_compat_aux_paused(event);
		refpmu_trace_write(t, REFPMU_REG_DEBUGCTL, paused ? 0 : control);
	} while (paused != refpmu_compat_aux_paused(event));
}

/*
 * Snapshot mode: let the device write all whole records of the buffer in a ring, from the current
 * head on, without interrupts.
 */
static void place_ring(struct refpmu_trace_cpu *t)
{
	const struct refpmu_trace_buffer *buffer = t->buffer;
	const u64 span = buffer->size - buffer->size % REFPMU_TRACE_RECORD;
	const u64 at = t->handle.head & (buffer->size - 1);

	/* The head may stem from an area of another size that was mapped earlier. */
	t->window = (struct refpmu_window){
		.offset = (at - at % REFPMU_TRACE_RECORD) % span,
		.size = span,
		.threshold = span,
	};
	t->ds.bts_base = (uintptr_t)buffer->base;
	t->ds.bts_index = t->ds.bts_base + t->window.offset;
}

/* Let the device fill the free space from the head up to the end of the buffer. */
static int place_window(struct refpmu_trace_cpu *t)
{
	struct perf_output_handle *handle = &t->handle;
	const u64 size = t->buffer->size;
	const u64 pad = refpmu_window_pad(handle->head, size, REFPMU_TRACE_RECORD);
	int err;

	/* The padding is zero: perf zeroed the pages, and the device never writes there. */
	err = pad ? perf_aux_output_skip(handle, pad) : 0;
	if (!err)
		err = refpmu_window_find(handle->head, handle->size, handle->wakeup, size,
					 REFPMU_TRACE_RECORD, &t->window);
	if (err)
		return err;
	t->ds.bts_base = (uintptr_t)t->buffer->base + t->window.offset;
	t->ds.bts_index = t->ds.bts_base;
	return 0;
}

static int place(struct refpmu_trace_cpu *t)
{
	int err = 0;

	if (t->buffer->snapshot)
		place_ring(t);
	else
		err = place_window(t);
	if (err)
		return err;
	t->ds.bts_maximum = t->ds.bts_base + t->window.size;
	t->ds.bts_threshold = t->ds.bts_base + t->window.threshold;
	return 0;
}

static bool begin(struct refpmu_trace_cpu *t, struct perf_event *event)
{
	t->buffer = perf_aux_output_begin(&t->handle, event);
	if (!t->buffer)
		return false;
	if (!place(t))
		return true;
	t->buffer = NULL;
	perf_aux_output_flag(&t->handle, PERF_AUX_FLAG_TRUNCATED);
	perf_aux_output_end(&t->handle, 0);
	return false;
}

/**
 * refpmu_trace_open() - Open a transaction and let the device record.
 * @t: State of this CPU.
 * @event: The event.
 *
 * Return: true; false if there is no buffer, or no room in it. The event is then disabled until its
 * reader enables it again.
 */
bool refpmu_trace_open(struct refpmu_trace_cpu *t, struct perf_event *event)
{
	if (!begin(t, event)) {
		refpmu_compat_disable(event);
		return false;
	}
	refpmu_trace_write(t, REFPMU_REG_DS_AREA, (uintptr_t)&t->ds);
	WRITE_ONCE(t->control,
		   event->hw.config | (t->buffer->snapshot ? 0 : REFPMU_DEBUGCTL_BTINT));
	refpmu_trace_switch(t, event);
	return true;
}

/**
 * refpmu_trace_close() - Stop the device and end the transaction, if one is open.
 * @t: State of this CPU.
 *
 * Return: true if the buffer is full. The event is then disabled, and the following branches are
 * lost until its reader enables it again.
 */
bool refpmu_trace_close(struct refpmu_trace_cpu *t)
{
	const struct refpmu_trace_buffer *buffer = t->buffer;
	const u64 start = t->window.offset;
	bool full = false;
	u64 at, written;

	if (!buffer)
		return false;
	WRITE_ONCE(t->control, 0);
	refpmu_trace_write(t, REFPMU_REG_DEBUGCTL, 0);

	at = t->ds.bts_index - (uintptr_t)buffer->base;
	if (buffer->snapshot) {
		t->handle.head = at;
		written = refpmu_window_lap(start, at, t->window.size);
	} else {
		written = at - start;
		full = t->window.last && written == t->window.size;
	}
	if (full)
		perf_aux_output_flag(&t->handle, PERF_AUX_FLAG_TRUNCATED);
	t->buffer = NULL;
	/* Order the records before the update of the head. */
	smp_wmb();
	perf_aux_output_end(&t->handle, written);
	if (full)
		refpmu_compat_disable(t->event);
	return full;
}
