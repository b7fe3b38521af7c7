/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The PERF_HES_* transitions of an event, as a table. */
#ifndef REFPMU_CORE_STATE_H
#define REFPMU_CORE_STATE_H

#include "refpmu_port.h"

/* Same values as PERF_HES_STOPPED and PERF_HES_UPTODATE; core_pmu/pmu.c asserts this. */
#define REFPMU_STOPPED 0x01
#define REFPMU_UPTODATE 0x02

enum refpmu_op {
	REFPMU_OP_ADD, /* add without PERF_EF_START */
	REFPMU_OP_START, /* start(event, 0) */
	REFPMU_OP_START_RELOAD, /* start(event, PERF_EF_RELOAD) */
	REFPMU_OP_STOP, /* stop(event, 0) */
	REFPMU_OP_STOP_UPDATE, /* stop(event, PERF_EF_UPDATE); also used by del */
	REFPMU_OP_MAX,
};

/* Actions of a transition. The driver does them in this order. */
#define REFPMU_DO_DISABLE 0x01 /* clear the counter's enable bit */
#define REFPMU_DO_FOLD 0x02 /* add the counter's delta to the count */
#define REFPMU_DO_RELOAD 0x04 /* program the counter from period_left */
#define REFPMU_DO_ENABLE 0x08 /* set the counter's enable bit */
/* the caller broke the contract (a reload without an update): warn once */
#define REFPMU_DO_WARN 0x10

struct refpmu_step {
	u8 next; /* the new hw.state */
	u8 actions; /* REFPMU_DO_* */
};

/**
 * refpmu_state_step() - Look up the transition of an operation.
 * @state: The event's hw.state: REFPMU_STOPPED and REFPMU_UPTODATE. Other bits are preserved.
 * @op: The operation.
 *
 * Source: include/linux/perf_event.h at pmu.add, pmu.start and pmu.stop.
 *
 * Return: The new state, and the actions.
 */
struct refpmu_step refpmu_state_step(u8 state, enum refpmu_op op);

#endif /* REFPMU_CORE_STATE_H */
