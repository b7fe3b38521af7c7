// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Choose the part of a trace buffer that the device may fill next. */
#include "window.h"

static u64 whole_records(u64 bytes, u64 record)
{
	return bytes - bytes % record;
}

static u64 bytes_to_end(u64 head, u64 buffer)
{
	return buffer - (head & (buffer - 1));
}

u64 refpmu_window_pad(u64 head, u64 buffer, u64 record)
{
	const u64 left = bytes_to_end(head, buffer);

	return left < record ? left : 0;
}

/* Return the distance from @head to @wakeup; 0 if @wakeup is not ahead. Both may overflow. */
static u64 distance_ahead(u64 head, u64 wakeup)
{
	const u64 distance = wakeup - head;

	return distance > refpmu_low_bits(63) ? 0 : distance;
}

int refpmu_window_find(u64 head, u64 room, u64 wakeup, u64 buffer, u64 record,
		       struct refpmu_window *window)
{
	const u64 end = bytes_to_end(head, buffer);
	const u64 size = whole_records(room < end ? room : end, record);
	const u64 wanted = distance_ahead(head, wakeup);
	u64 next; /* bytes up to the end of the next record after the window */

	if (!size)
		return -ENOSPC;
	next = end - size < record ? end + record : size + record;

	window->offset = head & (buffer - 1);
	window->size = size;
	window->last = room < next;
	window->threshold = window->last && size > record ? size - record : size;
	if (wanted && wanted < window->threshold)
		window->threshold = whole_records(wanted + record - 1, record);
	return 0;
}

u64 refpmu_window_lap(u64 from, u64 to, u64 span)
{
	return to >= from ? to - from : span - (from - to);
}
