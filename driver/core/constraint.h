/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Assign counters and extra registers to events. Finds an assignment whenever one exists. */
#ifndef REFPMU_CORE_CONSTRAINT_H
#define REFPMU_CORE_CONSTRAINT_H

#include "config.h"
#include "refpmu_port.h"

#define REFPMU_COUNTER_NONE (-1)
#define REFPMU_REGISTER_NONE (-1)

/* A want: the needs of one event that is to get a counter. */
struct refpmu_want {
	u64 allowed; /* counters that can count the event; for a wide event only even ones */
	u64 preferred; /* subset of allowed to try first, unless another want then has no counter */
	s8 previous; /* counter that it has or had, kept if possible; or REFPMU_COUNTER_NONE */
	bool pinned; /* runs on previous and previous_extra now, and must stay there */
	bool wide; /* takes an even general counter and the odd one that follows it */
	bool branches; /* uses the branch records, with branch_select */
	u8 extra; /* enum refpmu_extra: type of register that it needs in addition to its counter */
	s8 previous_extra; /* like previous, for a register of that type */
	u64 extra_value; /* value that the extra register must have */
	u64 branch_select; /* value that the branch selector must have */
	u64 exclusive; /* set of features; at most one want may have each feature */
};

struct refpmu_place {
	s8 counter; /* the even counter of a wide want */
	s8 extra; /* number of the extra register, or REFPMU_REGISTER_NONE if it needs none */
};

/**
 * refpmu_constraint_assign() - Assign a counter to each want.
 * @wants: The events that need counters.
 * @n: Number of wants, 0 to REFPMU_MAX_COUNTERS.
 * @places: The assignment, one entry for each want; written only on success.
 *
 * Each want gets a counter or a pair of counters that it allows, and the extra register that it
 * needs. There are two OFFCORE registers, which are interchangeable, and one for LOAD_LATENCY.
 * Wants share a register if they need the same value in it. All users of branch records share one
 * selector.
 *
 * The function finds an assignment whenever one exists. Among several assignments it chooses by
 * these priorities:
 *
 * - Pinned wants stay on their counters.
 * - In the order of @wants, each want keeps its previous counter, unless another want then has no
 *   counter or an earlier want would have to move.
 * - In the same order and with the same exceptions, each want gets a preferred counter.
 *
 * Registers are kept by the same priorities. The result depends only on @wants.
 *
 * Cost without wide wants: O(n^2 * 64) steps. With wide wants, multiply this by the number of
 * distinct sets of pairs. Pairs with equal constraints form a class; c classes make at most
 * (16/c+1)^c sets, and the worst masks make 2^16. There is no recursion, and each stack frame is
 * smaller than 1 KiB.
 *
 * Return: 0; -ENOSPC if no assignment exists; -EINVAL if the arguments are invalid, which is
 * checked first. Invalid arguments are: @n is too large; a wide want allows an odd or a fixed
 * counter; a register type does not exist; a pinned want has no valid counter or register.
 */
int refpmu_constraint_assign(const struct refpmu_want *wants, unsigned int n,
			     struct refpmu_place *places);

#endif /* REFPMU_CORE_CONSTRAINT_H */
