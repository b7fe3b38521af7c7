// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of core/period: deltas and reloads, also combined over many overflows. */
#include <kunit/test.h>

#include "verifies.h"
#include "vectors/vectors.h"

static const struct refpmu_delta_vector deltas[] = {
#include "vectors/period_delta.inc"
};

static const struct refpmu_reload_vector reloads[] = {
#include "vectors/period_reload.inc"
};

static void delta_desc(const struct refpmu_delta_vector *v, char *desc)
{
	strscpy(desc, v->name, KUNIT_PARAM_DESC_SIZE);
}

static void reload_desc(const struct refpmu_reload_vector *v, char *desc)
{
	strscpy(desc, v->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(delta, deltas, delta_desc);
KUNIT_ARRAY_PARAM(reload, reloads, reload_desc);

static void delta_is_modulo_the_width(struct kunit *test)
{
	const struct refpmu_delta_vector *v = test->param_value;

	VERIFIES(test, "DRC-059");
	KUNIT_EXPECT_EQ(test, refpmu_period_delta(v->prev, v->now, v->width), v->delta);
}

static void reload_returns_the_expected_value(struct kunit *test)
{
	const struct refpmu_reload_vector *v = test->param_value;
	struct refpmu_period p = { .period = v->period, .left = v->left };
	const struct refpmu_reload r = refpmu_period_reload(&p, v->width, v->min_period);

	VERIFIES(test, "DRC-066", "DRV-022");
	KUNIT_EXPECT_EQ(test, r.raw, v->raw);
	KUNIT_EXPECT_EQ(test, r.elapsed, v->elapsed);
	KUNIT_EXPECT_EQ(test, p.left, v->left_after);
	KUNIT_EXPECT_EQ(test, p.last, v->last_after);
	KUNIT_EXPECT_EQ(test, p.period, v->period);
}

static void reload_never_programs_the_lower_half(struct kunit *test)
{
	static const s64 lefts[] = { S64_MIN, -1, 0, 1, 0x7fff, 0x8000, 0x10000, S64_MAX };
	unsigned int width, i;

	VERIFIES(test, "DRC-066");
	for (width = 16; width <= 64; width++) {
		for (i = 0; i < ARRAY_SIZE(lefts); i++) {
			struct refpmu_period p = { .period = 0x123456789, .left = lefts[i] };
			const struct refpmu_reload r = refpmu_period_reload(&p, width, 1);

			KUNIT_EXPECT_EQ_MSG(test, r.raw >> (width - 1), 1ULL,
					    "width %u left %lld", width, lefts[i]);
			KUNIT_EXPECT_EQ(test, r.raw & ~refpmu_low_bits(width), 0ULL);
			KUNIT_EXPECT_GT(test, p.left, 0LL);
		}
	}
}

/*
 * Run a counter of 16 bits over @overflows interrupts, like a driver. Each interrupt is handled
 * @late events after the overflow. Return the number of events.
 */
static u64 run_counter(struct refpmu_period *p, unsigned int overflows, u64 late, u64 *elapsed)
{
	u64 events = 0;

	*elapsed = 0;
	while (overflows--) {
		const struct refpmu_reload r = refpmu_period_reload(p, 16, 1);
		const u64 happened = (0x10000 - r.raw) + late;

		*elapsed += r.elapsed;
		events += happened;
		p->left -= refpmu_period_delta(r.raw, r.raw + happened, 16);
	}
	return events;
}

static void elapsed_periods_and_remainder_equal_the_count(struct kunit *test)
{
	struct refpmu_period p = { .period = 1000, .left = 1000 };
	u64 elapsed, events;

	VERIFIES(test, "DRV-022");
	events = run_counter(&p, 500, 7, &elapsed);
	/* The last overflow was not reloaded, so left is at most zero. */
	KUNIT_EXPECT_EQ(test, events, (elapsed + 1) * 1000 - p.left);
	KUNIT_EXPECT_EQ(test, elapsed, 499ULL);
}

static void long_period_takes_several_overflows(struct kunit *test)
{
	VERIFIES(test, "DRC-065", "SMP-003");
	/*
	 * The counter is loaded with at most 32767 events, so a period of 100000 takes four
	 * overflows.
	 */
	struct refpmu_period p = { .period = 100000, .left = 100000 };
	u64 elapsed, events;

	events = run_counter(&p, 400, 0, &elapsed);
	KUNIT_EXPECT_EQ(test, events, 100ULL * 100000);
	KUNIT_EXPECT_EQ(test, elapsed, 99ULL);
	KUNIT_EXPECT_EQ(test, p.left, 0LL);
}

static void short_remainder_is_extended_and_subtracted_from_the_next_period(struct kunit *test)
{
	struct refpmu_period p = { .period = 100, .left = 3 };
	struct refpmu_reload r = refpmu_period_reload(&p, 16, 32);

	VERIFIES(test, "SMP-020");
	KUNIT_EXPECT_EQ(test, r.raw, 0x10000ULL - 32);
	KUNIT_EXPECT_FALSE(test, r.elapsed);
	p.left -= 32;
	r = refpmu_period_reload(&p, 16, 32);
	KUNIT_EXPECT_TRUE(test, r.elapsed);
	KUNIT_EXPECT_EQ(test, r.raw, 0x10000ULL - (100 - 29));
}

static void counting_period_is_half_the_range(struct kunit *test)
{
	unsigned int width;

	VERIFIES(test, "DRC-042");
	for (width = 16; width <= 64; width++)
		KUNIT_EXPECT_EQ(test, refpmu_period_counting(width), (1ULL << (width - 1)) - 1);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(delta_is_modulo_the_width, delta_gen_params),
	KUNIT_CASE_PARAM(reload_returns_the_expected_value, reload_gen_params),
	KUNIT_CASE(reload_never_programs_the_lower_half),
	KUNIT_CASE(elapsed_periods_and_remainder_equal_the_count),
	KUNIT_CASE(long_period_takes_several_overflows),
	KUNIT_CASE(short_remainder_is_extended_and_subtracted_from_the_next_period),
	KUNIT_CASE(counting_period_is_half_the_range),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_period",
	.test_cases = cases,
};

kunit_test_suite(suite);
