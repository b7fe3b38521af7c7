// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of core/constraint: assigns counters, and finds an assignment whenever one exists. */
#include <kunit/test.h>

#include "verifies.h"
#include "vectors/vectors.h"

static const struct refpmu_constraint_vector assignments[] = {
#include "vectors/constraint.inc"
};

static void assignment_desc(const struct refpmu_constraint_vector *v, char *desc)
{
	strscpy(desc, v->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(assignment, assignments, assignment_desc);

#define UNTOUCHED 99

static void assignment_equals_the_expected_one(struct kunit *test)
{
	const struct refpmu_constraint_vector *v = test->param_value;
	struct refpmu_place places[REFPMU_VECTOR_WANTS];
	unsigned int i;

	memset(places, UNTOUCHED, sizeof(places));
	KUNIT_ASSERT_EQ(test, refpmu_constraint_assign(v->wants, v->n, places), v->err);
	for (i = 0; i < REFPMU_VECTOR_WANTS; i++)
		KUNIT_EXPECT_EQ_MSG(test, places[i].counter,
				    i < v->n && !v->err ? v->counter[i] : UNTOUCHED, "want %u", i);
	for (i = 0; !v->err && i < v->n; i++)
		KUNIT_EXPECT_EQ_MSG(test, places[i].extra,
				    v->wants[i].extra ? v->extra[i] : REFPMU_REGISTER_NONE,
				    "want %u", i);
}

/*
 * Return true if the wants from @i on fit on the counters outside of @taken. Tries all assignments.
 */
static bool fits(const struct refpmu_want *wants, unsigned int n, unsigned int i, u64 taken)
{
	unsigned int bit;

	if (i == n)
		return true;
	for (bit = 0; bit < 4; bit++) {
		const u64 counter = BIT_ULL(bit);

		if (wants[i].allowed & counter & ~taken && fits(wants, n, i + 1, taken | counter))
			return true;
	}
	return false;
}

static void existing_assignment_is_always_found(struct kunit *test)
{
	struct refpmu_want wants[4];
	struct refpmu_place places[4];
	unsigned int all, i;

	/* All combinations of four subsets of four counters. */
	for (all = 0; all <= 0xffff; all++) {
		u64 taken = 0;
		int err;

		for (i = 0; i < 4; i++)
			wants[i] = (struct refpmu_want){
				.allowed = all >> (4 * i) & 0xf,
				.previous = REFPMU_COUNTER_NONE,
			};
		err = refpmu_constraint_assign(wants, 4, places);
		if (err != (fits(wants, 4, 0, 0) ? 0 : -ENOSPC)) {
			KUNIT_FAIL(test, "wants %#x: %d", all, err);
			return;
		}
		for (i = 0; !err && i < 4; i++) {
			const u64 bit = BIT_ULL(places[i].counter);

			if (!(wants[i].allowed & bit) || taken & bit) {
				KUNIT_FAIL(test, "wants %#x: counter %d", all, places[i].counter);
				return;
			}
			taken |= bit;
		}
	}
}

static void largest_device_assigns_every_counter(struct kunit *test)
{
	struct refpmu_want *wants;
	struct refpmu_place places[REFPMU_MAX_COUNTERS];
	u64 taken = 0;
	unsigned int i;

	wants = kunit_kcalloc(test, REFPMU_MAX_COUNTERS + 1, sizeof(*wants), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, wants);
	for (i = 0; i <= REFPMU_MAX_COUNTERS; i++)
		wants[i] = (struct refpmu_want){
			.allowed = ~0ULL,
			.previous = REFPMU_COUNTER_NONE,
		};

	KUNIT_ASSERT_EQ(test, refpmu_constraint_assign(wants, REFPMU_MAX_COUNTERS, places), 0);
	for (i = 0; i < REFPMU_MAX_COUNTERS; i++)
		taken |= BIT_ULL(places[i].counter);
	KUNIT_EXPECT_EQ(test, taken, ~0ULL);
	KUNIT_EXPECT_EQ(test, refpmu_constraint_assign(wants, REFPMU_MAX_COUNTERS + 1, places),
			-EINVAL);
}

static void pinned_want_without_a_counter_is_invalid(struct kunit *test)
{
	const struct refpmu_want want = {
		.allowed = 0xf,
		.previous = REFPMU_COUNTER_NONE,
		.pinned = true,
	};
	struct refpmu_place place = { UNTOUCHED, UNTOUCHED };

	KUNIT_EXPECT_EQ(test, refpmu_constraint_assign(&want, 1, &place), -EINVAL);
	KUNIT_EXPECT_EQ(test, place.counter, UNTOUCHED);
}

static void equal_wants_get_equal_counters(struct kunit *test)
{
	const struct refpmu_want wants[] = {
		{ .allowed = 0x7, .previous = REFPMU_COUNTER_NONE },
		{ .allowed = 0x6, .previous = REFPMU_COUNTER_NONE },
		{ .allowed = 0x3, .previous = REFPMU_COUNTER_NONE },
	};
	struct refpmu_place first[3], again[3];

	KUNIT_ASSERT_EQ(test, refpmu_constraint_assign(wants, 3, first), 0);
	KUNIT_ASSERT_EQ(test, refpmu_constraint_assign(wants, 3, again), 0);
	KUNIT_EXPECT_EQ(test, memcmp(first, again, sizeof(first)), 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(assignment_equals_the_expected_one, assignment_gen_params),
	KUNIT_CASE(existing_assignment_is_always_found),
	KUNIT_CASE(largest_device_assigns_every_counter),
	KUNIT_CASE(pinned_want_without_a_counter_is_invalid),
	KUNIT_CASE(equal_wants_get_equal_counters),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_constraint",
	.test_cases = cases,
};

kunit_test_suite(suite);
