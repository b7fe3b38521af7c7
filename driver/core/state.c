// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* The PERF_HES_* transitions of an event, as a table. */
#include "state.h"

#define RUNNING 0
#define STALE REFPMU_STOPPED /* stopped, with events in the counter that are not folded yet */
#define SETTLED (REFPMU_STOPPED | REFPMU_UPTODATE)
#define STATE_MASK SETTLED

#define DO_DISABLE REFPMU_DO_DISABLE
#define DO_FOLD REFPMU_DO_FOLD
#define DO_RELOAD REFPMU_DO_RELOAD
#define DO_ENABLE REFPMU_DO_ENABLE
#define DO_WARN REFPMU_DO_WARN

/*
 * Columns: 0 running; 1 STOPPED; 2 UPTODATE alone; 3 both.
 *
 * Column 2 equals running, because a running counter always has events to fold. Only code outside
 * of the driver can bring hw.state there. A reload overwrites the counter. If perf requests it
 * while the counter holds unfolded events, the table folds them first; a running counter is not
 * reloaded.
 */
static const struct refpmu_step steps[REFPMU_OP_MAX][STATE_MASK + 1] = {
	[REFPMU_OP_ADD] = {
		{ SETTLED, 0 },
		{ SETTLED, 0 },
		{ SETTLED, 0 },
		{ SETTLED, 0 },
	},
	[REFPMU_OP_START] = {
		{ RUNNING, 0 },
		{ RUNNING, DO_ENABLE },
		{ RUNNING, 0 },
		{ RUNNING, DO_ENABLE },
	},
	[REFPMU_OP_START_RELOAD] = {
		{ RUNNING, DO_WARN },
		{ RUNNING, DO_WARN | DO_FOLD | DO_RELOAD | DO_ENABLE },
		{ RUNNING, DO_WARN },
		{ RUNNING, DO_RELOAD | DO_ENABLE },
	},
	[REFPMU_OP_STOP] = {
		{ STALE, DO_DISABLE },
		{ STALE, 0 },
		{ STALE, DO_DISABLE },
		{ SETTLED, 0 },
	},
	[REFPMU_OP_STOP_UPDATE] = {
		{ SETTLED, DO_DISABLE | DO_FOLD },
		{ SETTLED, DO_FOLD },
		{ SETTLED, DO_DISABLE | DO_FOLD },
		{ SETTLED, 0 },
	},
};

struct refpmu_step refpmu_state_step(u8 state, enum refpmu_op op)
{
	struct refpmu_step step = { .next = state, .actions = 0 };

	if ((unsigned int)op >= REFPMU_OP_MAX)
		return step;
	step = steps[op][state & STATE_MASK];
	step.next |= state & (u8)~STATE_MASK;
	return step;
}
