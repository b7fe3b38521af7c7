// SPDX-License-Identifier: GPL-2.0-only
/* Habits of processors and faults of hardware: how counts and interrupts deviate. */
#include <linux/math64.h>

#include "habit.h"
#include "uapi/refpmu_work.h"

/* Events that a jump takes from a count. */
#define JUMP 1000

struct refpmu_habits refpmu_habits = {
	.instructions_ppm = REFPMU_HABIT_ONE,
	.branches_ppm = REFPMU_HABIT_ONE,
	.seed = 1,
};

/* Return a number from 0 to @n - 1. The sequence depends only on the seed. Knuth's generator. */
static u64 draw(struct refpmu_habit_state *state, u64 n)
{
	if (!state->random)
		state->random = refpmu_habits.seed;
	state->random = state->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state->random >> 33) % n;
}

/* A run begins: the counters start to count after a time in which none did. */
void refpmu_habit_begin(struct refpmu_habit_state *state)
{
	const s64 most = refpmu_habits.vary_ppm;

	if (most)
		state->off_ppm = (s64)draw(state, 2 * most + 1) - most;
}

/* Return how many of @n occurrences of @event the counters see. */
u64 refpmu_habit_scale(struct refpmu_habit_state *state, unsigned int event, unsigned int privilege,
		       u64 n)
{
	const bool branches = event == REFPMU_WORK_BRANCHES;
	s64 off = state->off_ppm, events;

	if (event == REFPMU_WORK_INSTRUCTIONS)
		off += (s64)refpmu_habits.instructions_ppm - REFPMU_HABIT_ONE;
	else if (branches)
		off += (s64)refpmu_habits.branches_ppm - REFPMU_HABIT_ONE;
	else
		return n;
	if (!off)
		return n;
	state->carry[branches][privilege] += (s64)n * off;
	events = div_s64(state->carry[branches][privilege], REFPMU_HABIT_ONE);
	if ((s64)n + events < 0)
		return n;
	state->carry[branches][privilege] -= events * REFPMU_HABIT_ONE;
	return n + events;
}

/* A counter has overflowed at @privilege. Its interrupt may come later. */
void refpmu_habit_overflow(struct refpmu_habit_state *state, unsigned int privilege)
{
	if (!refpmu_habits.skid || state->skid)
		return;
	state->skid = refpmu_habits.skid;
	if (refpmu_habits.skid_varies)
		state->skid = 1 + draw(state, refpmu_habits.skid);
	state->privilege = privilege;
}

/* Return true if the interrupt that is due now does not arrive. */
bool refpmu_habit_loses_interrupt(struct refpmu_habit_state *state)
{
	return refpmu_habits.loses && ++state->interrupts % refpmu_habits.loses == 0;
}

/* Return the events that a fold takes from a count of @count. */
u64 refpmu_habit_fold(struct refpmu_habit_state *state, u64 count)
{
	if (!refpmu_habits.jumps_back || ++state->folds % refpmu_habits.jumps_back || count < JUMP)
		return 0;
	return JUMP;
}
