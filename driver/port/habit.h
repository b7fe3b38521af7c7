/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Habits of processors and faults of hardware that the work clock can have. All are off by default.
 * docs/exact-pmu.md states which a driver cannot help, and which are defects.
 */
#ifndef REFPMU_PORT_HABIT_H
#define REFPMU_PORT_HABIT_H

#include <linux/types.h>

struct refpmu_cpu;

/* Parts per million in the rate of an event that counts each occurrence once. */
#define REFPMU_HABIT_ONE 1000000

/* Parameters of the module; core_pmu/habits.c has their limits. */
struct refpmu_habits {
	unsigned int skid; /* instructions between an overflow and its interrupt */
	bool skid_varies; /* the number is random: 1 to skid */
	bool skid_survives; /* a stop of the PMU does not deliver the interrupt first */
	unsigned int vary_ppm; /* counts are off by up to this much, differently in each run */
	unsigned int instructions_ppm; /* counts of an event, REFPMU_HABIT_ONE if right */
	unsigned int branches_ppm;
	unsigned int seed;
	ulong held; /* counters that another user holds */
	ulong stuck; /* counters that count nothing */
	bool idle_stops; /* general counters do not count while the CPU is idle */
	unsigned int misses_below; /* the device misses overflows after fewer events */
	unsigned int loses; /* every so many interrupts, one is lost */
	unsigned int jumps_back; /* every so many folds, a count loses some events */
};

extern struct refpmu_habits refpmu_habits;

/* The state of the habits on a CPU. */
struct refpmu_habit_state {
	u64 random; /* state of the generator; 0 before its first use */
	u64 skid; /* instructions until the interrupt of an overflow; 0: none is late */
	unsigned int privilege; /* of these instructions */
	unsigned int interrupts;
	unsigned int folds;
	s64 off_ppm; /* error of this run */
	s64 carry[2][2]; /* millionths of an event: instructions or branches, by privilege */
};

/* Check the parameters. Return 0, or -EINVAL. Without @work, no habit is possible. */
int refpmu_habits_check(bool work);

void refpmu_habit_begin(struct refpmu_habit_state *state);
u64 refpmu_habit_scale(struct refpmu_habit_state *state, unsigned int event, unsigned int privilege,
		       u64 n);
void refpmu_habit_overflow(struct refpmu_habit_state *state, unsigned int privilege);
bool refpmu_habit_loses_interrupt(struct refpmu_habit_state *state);
u64 refpmu_habit_fold(struct refpmu_habit_state *state, u64 count);

#endif /* REFPMU_PORT_HABIT_H */
