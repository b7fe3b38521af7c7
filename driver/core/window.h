/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Choose the part of a trace buffer that the device may fill next. This part, the window, consists
 * of whole records, does not wrap, and contains no data that the reader has not consumed.
 *
 * The size of a buffer is a power of two. Records have a fixed size, and the first one starts at
 * the start of the buffer. A record never wraps: bytes at the end that are too few for a record are
 * padding. Positions (head, wakeup) increase without limit, like those of perf's AUX area, and may
 * overflow.
 */
#ifndef REFPMU_CORE_WINDOW_H
#define REFPMU_CORE_WINDOW_H

#include "refpmu_port.h"

struct refpmu_window {
	u64 offset; /* in the buffer */
	u64 size; /* bytes: whole records, at least one */
	/* bytes after which the driver must check the buffer: whole records, at most size */
	u64 threshold;
	bool last; /* after this window no record fits until the reader frees space */
};

/**
 * refpmu_window_pad() - Calculate the padding at a position.
 * @head: Position of the next record.
 * @buffer: Size of the buffer.
 * @record: Size of a record.
 *
 * Return: The bytes to skip because no record fits before the end of the buffer; 0 if one fits.
 */
u64 refpmu_window_pad(u64 head, u64 buffer, u64 record);

/**
 * refpmu_window_find() - Find the window at a position.
 * @head: Position of the next record; it needs no padding.
 * @room: Bytes that may be written from @head on.
 * @wakeup: Position at which the reader wants to be woken.
 * @buffer: Size of the buffer.
 * @record: Size of a record.
 * @window: The window; written only on success.
 *
 * The threshold of a last window with several records is one record before its end: the reader may
 * have freed space by then.
 *
 * Return: 0, or -ENOSPC if there is no room for a record.
 */
int refpmu_window_find(u64 head, u64 room, u64 wakeup, u64 buffer, u64 record,
		       struct refpmu_window *window);

/**
 * refpmu_window_lap() - Calculate how many bytes a device wrote to a ring.
 * @from: Start offset in the ring.
 * @to: End offset in the ring.
 * @span: Size of the ring in bytes.
 *
 * Return: The bytes between the offsets, without whole laps.
 */
u64 refpmu_window_lap(u64 from, u64 to, u64 span);

#endif /* REFPMU_CORE_WINDOW_H */
