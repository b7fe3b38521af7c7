/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Events of the device: codes, names, and the generic events that they implement. */
#ifndef REFPMU_CORE_EVENTS_H
#define REFPMU_CORE_EVENTS_H

#include "../model/registers.h"
#include "config.h"

/* Bits of the event select that change an event to a count of cycles. Fixed counters lack them. */
#define REFPMU_EVTSEL_FILTER (REFPMU_EVTSEL_EDGE | REFPMU_EVTSEL_INV | REFPMU_EVTSEL_CMASK)

/* An event as user space encodes it: the fields of config, and config1. */
struct refpmu_encoding {
	u32 config; /* REFPMU_EVTSEL_CODE and REFPMU_EVTSEL_FILTER */
	u64 config1; /* offcore_rsp or ldlat, for codes that have such a register */
};

/* One event that sysfs shows in events/. */
struct refpmu_event {
	const char *name;
	struct refpmu_encoding encoding;
	const char *scale; /* value of one event in units, as a decimal fraction, or NULL */
	const char *unit; /* name of the unit; NULL exactly if scale is NULL */
};

extern const struct refpmu_event refpmu_events[];
extern const unsigned int refpmu_events_count;

/**
 * refpmu_events_counters() - Find the counters that can count an event.
 * @config: Code and filter bits of the event; other bits are ignored.
 * @caps: Properties of the device.
 *
 * Return: The set of counters; empty if none can count the event. For a wide event, the even
 * counters that have an odd neighbor.
 */
u64 refpmu_events_counters(u64 config, const struct refpmu_caps *caps);

/**
 * refpmu_events_extra() - Find the extra register that an event code needs.
 * @code: The event code.
 * @valid: The bits that the register's value may have.
 *
 * Return: A value of enum refpmu_extra.
 */
u8 refpmu_events_extra(u16 code, u64 *valid);

/**
 * refpmu_events_generic() - Find the encoding of a PERF_TYPE_HARDWARE event.
 * @id: The event's id.
 * @encoding: The encoding; written only on success.
 *
 * Return: 0; -ENOENT if the device does not support the event; -EINVAL if the id does not exist.
 */
int refpmu_events_generic(u64 id, struct refpmu_encoding *encoding);
/**
 * refpmu_events_cache() - Find the encoding of a PERF_TYPE_HW_CACHE event.
 * @id: The event's id: cache in bits 0-7, operation in bits 8-15, result in bits 16-23.
 * @encoding: The encoding; written only on success.
 *
 * Return: 0; -ENOENT if the device does not support the event; -EINVAL if the id does not exist.
 */
int refpmu_events_cache(u64 id, struct refpmu_encoding *encoding);

#endif /* REFPMU_CORE_EVENTS_H */
