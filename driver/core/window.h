/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Which stretch of a trace buffer the device may fill next: whole records, no wrap inside it, and
 * nothing that the reader has not taken yet.
 *
 * A buffer is a power of two long and holds records of a fixed size, the first one at its start. A
 * record never wraps: what is left at the end and is shorter than a record is padding. Positions
 * (head, wakeup) count up for ever, as those of perf's AUX area do, and may overflow.
 */
#ifndef REFPMU_CORE_WINDOW_H
#define REFPMU_CORE_WINDOW_H

#include "refpmu_port.h"

struct refpmu_window {
	u64 offset; /* in the buffer */
	u64 size; /* bytes: whole records, at least one */
	u64 threshold; /* bytes after which the driver has to look; whole records, at most size */
	bool last; /* behind it no record fits until the reader has made room */
};

/* Bytes to be left out at @head because no record of @record bytes fits before the end. */
u64 refpmu_window_pad(u64 head, u64 buffer, u64 record);

/*
 * The window at @head, which needs no padding: @room bytes may be written from there on, and the
 * reader wants to be woken at @wakeup. A last window is looked at one record early if it has more
 * than one: the reader may have made room by then. -ENOSPC (and @window untouched) if there is no
 * room for a record.
 */
int refpmu_window_find(u64 head, u64 room, u64 wakeup, u64 buffer, u64 record,
		       struct refpmu_window *window);

/* Bytes that a device wrote from @from to @to in a ring of @span bytes; laps do not count. */
u64 refpmu_window_lap(u64 from, u64 to, u64 span);

#endif /* REFPMU_CORE_WINDOW_H */
