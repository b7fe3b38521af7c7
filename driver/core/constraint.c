// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Assign counters and extra registers to events. Finds an assignment whenever one exists. */
#include "constraint.h"

#include "matching.h"

#define EVEN_GENERAL 0x55555555ULL
#define OFFCORE_REGISTERS 2

static u8 registers_of(u8 kind)
{
	return kind == REFPMU_EXTRA_OFFCORE ? OFFCORE_REGISTERS : 1;
}

static bool has_previous(const struct refpmu_want *want)
{
	return want->previous >= 0 && want->previous < REFPMU_MAX_COUNTERS &&
	       want->allowed >> want->previous & 1;
}

static bool has_register(const struct refpmu_want *want)
{
	return want->previous_extra >= 0 && want->previous_extra < registers_of(want->extra);
}

static bool valid(const struct refpmu_want *want)
{
	if (want->wide && want->allowed & ~EVEN_GENERAL)
		return false;
	if (want->extra >= REFPMU_EXTRA_MAX)
		return false;
	if (!want->pinned)
		return true;
	return has_previous(want) && (!want->extra || has_register(want));
}

/* Check the resources that exist once: the branch selector, and the exclusive features. */
static bool exclusive_resources_fit(const struct refpmu_want *wants, unsigned int n)
{
	const struct refpmu_want *first = NULL;
	u64 features = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (features & wants[i].exclusive)
			return false;
		features |= wants[i].exclusive;
		if (!wants[i].branches)
			continue;
		if (!first)
			first = &wants[i];
		if (wants[i].branch_select != first->branch_select)
			return false;
	}
	return true;
}

/* State of the registers of one type while they are being assigned. */
struct registers {
	u8 kind;
	u8 n;
	u64 value[OFFCORE_REGISTERS];
	bool used[OFFCORE_REGISTERS];
};

static bool has_value(const struct registers *regs, unsigned int reg, u64 value)
{
	return regs->used[reg] && regs->value[reg] == value;
}

/* Return the first register that contains @value, else the first free one, else @n of @regs. */
static unsigned int find_register(const struct registers *regs, u64 value)
{
	unsigned int reg;

	for (reg = 0; reg < regs->n && !has_value(regs, reg, value); reg++)
		;
	if (reg < regs->n)
		return reg;
	for (reg = 0; reg < regs->n && regs->used[reg]; reg++)
		;
	return reg;
}

static void set_value(struct registers *regs, unsigned int reg, u64 value)
{
	regs->used[reg] = true;
	regs->value[reg] = value;
}

/* Return true if every want finds its value in @regs, or a free register. @regs is a copy. */
static bool all_fit(struct registers regs, const struct refpmu_want *wants, unsigned int n)
{
	unsigned int i, reg;

	for (i = 0; i < n; i++) {
		if (wants[i].extra != regs.kind)
			continue;
		reg = find_register(&regs, wants[i].extra_value);
		if (reg == regs.n)
			return false;
		set_value(&regs, reg, wants[i].extra_value);
	}
	return true;
}

/*
 * Assign the registers of one type: first to pinned wants, then to wants that can keep their
 * previous register without displacing others.
 */
static bool assign_one_type(struct registers *regs, const struct refpmu_want *wants, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		const unsigned int reg = (unsigned int)wants[i].previous_extra;

		if (wants[i].extra != regs->kind || !wants[i].pinned)
			continue;
		if (regs->used[reg] && regs->value[reg] != wants[i].extra_value)
			return false;
		set_value(regs, reg, wants[i].extra_value);
	}
	if (!all_fit(*regs, wants, n))
		return false;
	for (i = 0; i < n; i++) {
		const unsigned int reg = (unsigned int)wants[i].previous_extra;

		if (wants[i].extra != regs->kind || !has_register(&wants[i]) ||
		    regs->used[reg])
			continue;
		set_value(regs, reg, wants[i].extra_value);
		if (!all_fit(*regs, wants, n))
			regs->used[reg] = false;
	}
	return true;
}

/* Assign a register of type @kind to each want that needs one. Return false if too few exist. */
static bool assign_registers(u8 kind, const struct refpmu_want *wants, unsigned int n,
			     s8 *extra)
{
	struct registers regs = { .kind = kind, .n = registers_of(kind) };
	unsigned int i, reg;

	if (!assign_one_type(&regs, wants, n))
		return false;
	for (i = 0; i < n; i++) {
		if (wants[i].extra != kind)
			continue;
		reg = (unsigned int)wants[i].previous_extra;
		if (!has_register(&wants[i]) || !has_value(&regs, reg, wants[i].extra_value))
			reg = find_register(&regs, wants[i].extra_value);
		set_value(&regs, reg, wants[i].extra_value);
		extra[i] = (s8)reg;
	}
	return true;
}

static void lock(struct refpmu_matching *m, unsigned int want)
{
	m->locked |= refpmu_matching_span(&m->wants[want], m->counter[want]);
}

/* Put each pinned want on its counter. Return false if two wants are pinned to one counter. */
static bool place_pinned(struct refpmu_matching *m)
{
	unsigned int i;

	for (i = 0; i < m->n; i++) {
		const struct refpmu_want *want = &m->wants[i];

		if (!want->pinned)
			continue;
		if (m->used & refpmu_matching_span(want, want->previous))
			return false;
		refpmu_matching_put(m, i, want->previous);
		lock(m, i);
	}
	return true;
}

/*
 * Move a want that is not wide to a counter of @to, without moving wide wants. This costs less than
 * refpmu_matching_refill(), but can fail where that succeeds.
 */
static bool move_narrow(struct refpmu_matching *m, unsigned int want, u64 to)
{
	const int old = m->counter[want];

	refpmu_matching_drop(m, want);
	if (refpmu_matching_place(m, want, to))
		return true;
	refpmu_matching_put(m, want, old);
	return false;
}

/* Move @want to a counter of @to and lock it there, if all other wants can still be placed. */
static void lock_if_possible(struct refpmu_matching *m, unsigned int want, u64 to, bool any_wide)
{
	bool there;

	if (!to)
		return;
	there = to >> m->counter[want] & 1 ||
		(!m->wants[want].wide && move_narrow(m, want, to));
	if (!there && any_wide) {
		m->trial = (int)want;
		m->trial_set = to;
		there = refpmu_matching_refill(m);
		m->trial = -1;
	}
	if (there)
		lock(m, want);
}

static bool is_locked(const struct refpmu_matching *m, unsigned int want)
{
	return m->locked >> m->counter[want] & 1;
}

static bool assign_counters(struct refpmu_matching *m)
{
	bool any_wide = false;
	unsigned int i;

	memset(m->counter, REFPMU_COUNTER_NONE, sizeof(m->counter));
	memset(m->owner, 0, sizeof(m->owner));
	if (!place_pinned(m) || !refpmu_matching_fill(m))
		return false;
	for (i = 0; i < m->n; i++)
		any_wide |= m->wants[i].wide;

	/*
	 * Every want has a counter now. The rest improves the assignment: keeping a counter has
	 * priority over a preferred one.
	 */
	for (i = 0; i < m->n; i++) {
		const struct refpmu_want *want = &m->wants[i];

		if (!want->pinned && has_previous(want))
			lock_if_possible(m, i, BIT_ULL(want->previous), any_wide);
	}
	for (i = 0; i < m->n; i++) {
		if (!is_locked(m, i))
			lock_if_possible(m, i, m->wants[i].preferred & m->wants[i].allowed,
					 any_wide);
	}
	return true;
}

int refpmu_constraint_assign(const struct refpmu_want *wants, unsigned int n,
			     struct refpmu_place *places)
{
	struct refpmu_matching m = { .wants = wants, .n = n, .trial = -1 };
	s8 extra[REFPMU_MAX_COUNTERS];
	unsigned int i, kinds = 0;
	u8 kind;

	if (n > REFPMU_MAX_COUNTERS)
		return -EINVAL;
	for (i = 0; i < n; i++) {
		if (!valid(&wants[i]))
			return -EINVAL;
		kinds |= 1u << wants[i].extra;
	}

	memset(extra, REFPMU_REGISTER_NONE, sizeof(extra));
	for (kind = REFPMU_EXTRA_NONE + 1; kind < REFPMU_EXTRA_MAX; kind++) {
		if (kinds >> kind & 1 && !assign_registers(kind, wants, n, extra))
			return -ENOSPC;
	}
	if (!exclusive_resources_fit(wants, n) || !assign_counters(&m))
		return -ENOSPC;

	for (i = 0; i < n; i++)
		places[i] = (struct refpmu_place){ m.counter[i], extra[i] };
	return 0;
}
