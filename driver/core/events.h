/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* What the device counts: its event codes, their names, and the generic events behind them. */
#ifndef REFPMU_CORE_EVENTS_H
#define REFPMU_CORE_EVENTS_H

#include "../model/registers.h"
#include "config.h"

/* Bits of the event select that make cycles out of events; fixed counters have none of them. */
#define REFPMU_EVTSEL_FILTER (REFPMU_EVTSEL_EDGE | REFPMU_EVTSEL_INV | REFPMU_EVTSEL_CMASK)

/* An event as a user would ask for it: the fields of config, and config1. */
struct refpmu_encoding {
	u32 config; /* REFPMU_EVTSEL_CODE and REFPMU_EVTSEL_FILTER */
	u64 config1; /* offcore_rsp or ldlat, for the codes that take one */
};

/* One entry of the event list that sysfs shows. */
struct refpmu_event {
	const char *name;
	struct refpmu_encoding encoding;
	const char *scale; /* what one event is worth, as a decimal fraction, in */
	const char *unit; /* this unit; both or neither is NULL */
};

extern const struct refpmu_event refpmu_events[];
extern const unsigned int refpmu_events_count;

/*
 * Counters (a set) of @caps that can count @config, of which the code and the filter matter; empty
 * if none can. For an event that takes a pair of counters: the even ones that have a neighbour.
 */
u64 refpmu_events_counters(u64 config, const struct refpmu_caps *caps);

/* What else events of @code need: enum refpmu_extra; and the bits that its value may have. */
u8 refpmu_events_extra(u16 code, u64 *valid);

/*
 * The encoding of PERF_TYPE_HARDWARE event @id, or of PERF_TYPE_HW_CACHE event @id (cache in bits
 * 0-7, operation in bits 8-15, result in bits 16-23). Returns 0; -ENOENT if the device has no such
 * event; -EINVAL if there is no such id. @encoding is written only on success.
 */
int refpmu_events_generic(u64 id, struct refpmu_encoding *encoding);
int refpmu_events_cache(u64 id, struct refpmu_encoding *encoding);

#endif /* REFPMU_CORE_EVENTS_H */
