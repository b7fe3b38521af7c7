// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of core/state: the effect of start and stop in each state, and invariants. */
#include <kunit/test.h>
#include <linux/perf_event.h>

#include "verifies.h"
#include "vectors/vectors.h"

static const struct refpmu_state_vector steps[] = {
#include "vectors/state.inc"
};

static void step_desc(const struct refpmu_state_vector *v, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "state %#x op %d", v->state, v->op);
}

KUNIT_ARRAY_PARAM(step, steps, step_desc);

static void transition_equals_the_expected_one(struct kunit *test)
{
	const struct refpmu_state_vector *v = test->param_value;
	const struct refpmu_step step = refpmu_state_step(v->state, v->op);

	VERIFIES(test, "DRC-052", "DRC-053", "DRV-010");
	KUNIT_EXPECT_EQ(test, step.next, v->next);
	KUNIT_EXPECT_EQ(test, step.actions, v->actions);
}

static void state_flags_equal_those_of_perf(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, REFPMU_STOPPED, PERF_HES_STOPPED);
	KUNIT_EXPECT_EQ(test, REFPMU_UPTODATE, PERF_HES_UPTODATE);
}

/*
 * State of a counter after the actions: does it run, and does it have events that are not folded?
 */
struct counter {
	bool runs;
	bool holds;
};

static void apply(struct kunit *test, struct counter *c, u8 actions, unsigned int sequence)
{
	if (actions & REFPMU_DO_DISABLE)
		c->runs = false;
	if (actions & REFPMU_DO_FOLD)
		c->holds = false;
	if (actions & REFPMU_DO_RELOAD) {
		KUNIT_EXPECT_FALSE_MSG(test, c->holds, "events lost by sequence %#x", sequence);
		KUNIT_EXPECT_FALSE_MSG(test, c->runs, "reload under way in %#x", sequence);
	}
	if (actions & REFPMU_DO_ENABLE)
		c->runs = true;
	if (c->runs)
		c->holds = true;
}

static void every_sequence_counts_all_events_with_correct_flags(struct kunit *test)
{
	const unsigned int length = 5;
	unsigned int sequence, i, end = 1;

	VERIFIES(test, "DRC-051");
	for (i = 0; i < length; i++)
		end *= REFPMU_OP_MAX - 1;
	/* All sequences of starts and stops after an add. */
	for (sequence = 0; sequence < end; sequence++) {
		u8 state = refpmu_state_step(0, REFPMU_OP_ADD).next;
		struct counter c = { .runs = false };
		unsigned int ops = sequence;

		for (i = 0; i < length; i++, ops /= REFPMU_OP_MAX - 1) {
			const enum refpmu_op op = 1 + ops % (REFPMU_OP_MAX - 1);
			const struct refpmu_step step = refpmu_state_step(state, op);

			state = step.next;
			apply(test, &c, step.actions, sequence);
			KUNIT_EXPECT_EQ_MSG(test, c.runs, !(state & REFPMU_STOPPED),
					    "STOPPED after sequence %#x", sequence);
			if (state & REFPMU_UPTODATE)
				KUNIT_EXPECT_FALSE_MSG(test, c.holds, "UPTODATE after %#x",
						       sequence);
		}
	}
}

static void second_stop_does_nothing(struct kunit *test)
{
	u8 state;

	VERIFIES(test, "DRC-055", "DRV-009");
	/* perf may stop an event that is already stopped, when it unthrottles it. */
	state = refpmu_state_step(0, REFPMU_OP_STOP_UPDATE).next;
	KUNIT_EXPECT_EQ(test, refpmu_state_step(state, REFPMU_OP_STOP_UPDATE).actions, 0);
	KUNIT_EXPECT_EQ(test, refpmu_state_step(state, REFPMU_OP_STOP).actions, 0);
	state = refpmu_state_step(0, REFPMU_OP_STOP).next;
	KUNIT_EXPECT_EQ(test, refpmu_state_step(state, REFPMU_OP_STOP).actions, 0);
}

static void late_update_folds_once(struct kunit *test)
{
	struct refpmu_step step = refpmu_state_step(0, REFPMU_OP_STOP);

	VERIFIES(test, "DRC-052", "DRV-009");
	KUNIT_EXPECT_FALSE(test, step.actions & REFPMU_DO_FOLD);
	KUNIT_EXPECT_FALSE(test, step.next & REFPMU_UPTODATE);
	step = refpmu_state_step(step.next, REFPMU_OP_STOP_UPDATE);
	KUNIT_EXPECT_TRUE(test, step.actions & REFPMU_DO_FOLD);
	step = refpmu_state_step(step.next, REFPMU_OP_STOP_UPDATE);
	KUNIT_EXPECT_FALSE(test, step.actions & REFPMU_DO_FOLD);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(transition_equals_the_expected_one, step_gen_params),
	KUNIT_CASE(state_flags_equal_those_of_perf),
	KUNIT_CASE(every_sequence_counts_all_events_with_correct_flags),
	KUNIT_CASE(second_stop_does_nothing),
	KUNIT_CASE(late_update_folds_once),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_state",
	.test_cases = cases,
};

kunit_test_suite(suite);
