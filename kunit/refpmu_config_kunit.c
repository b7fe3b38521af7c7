// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of core/config: conversion of an attr to a request, and the errno of each rejection.
 */
#include <kunit/test.h>
#include <linux/perf_event.h>

#include "verifies.h"
#include "vectors/vectors.h"

static const struct refpmu_config_vector configs[] = {
#include "vectors/config.inc"
};

static void config_desc(const struct refpmu_config_vector *v, char *desc)
{
	strscpy(desc, v->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(config, configs, config_desc);

#define OWN_TYPE 77

static const struct refpmu_caps caps = {
	.own_type = OWN_TYPE,
	.general = 4,
	.fixed = 3,
	.width = 48,
	.min_period = 32,
	.lbr = 32,
	.records = true,
};

static void expect_same_request(struct kunit *test, const struct refpmu_request *have,
				const struct refpmu_request *want)
{
	KUNIT_EXPECT_EQ(test, have->evtsel, want->evtsel);
	KUNIT_EXPECT_EQ(test, have->allowed, want->allowed);
	KUNIT_EXPECT_EQ(test, have->preferred, want->preferred);
	KUNIT_EXPECT_EQ(test, have->period, want->period);
	KUNIT_EXPECT_EQ(test, have->sampling, want->sampling);
	KUNIT_EXPECT_EQ(test, have->freq, want->freq);
}

static void parse_returns_the_expected_request(struct kunit *test)
{
	const struct refpmu_config_vector *v = test->param_value;
	struct refpmu_request req = { .evtsel = 0xdead, .period = 0xbeef };
	const struct refpmu_request before = req;

	KUNIT_ASSERT_EQ(test, refpmu_config_parse(&v->attr, &v->caps, &req), v->err);
	expect_same_request(test, &req, v->err ? &before : &v->req);
}

static void every_listed_event_is_accepted(struct kunit *test)
{
	struct refpmu_request req;
	unsigned int i;

	KUNIT_ASSERT_GT(test, refpmu_events_count, 0U);
	for (i = 0; i < refpmu_events_count; i++) {
		const struct refpmu_attr attr = {
			.type = OWN_TYPE,
			.config = refpmu_events[i].encoding.config,
			.config1 = refpmu_events[i].encoding.config1,
		};

		KUNIT_EXPECT_EQ_MSG(test, refpmu_config_parse(&attr, &caps, &req), 0, "%s",
				    refpmu_events[i].name);
		KUNIT_EXPECT_EQ(test, req.evtsel & (REFPMU_EVTSEL_CODE | REFPMU_EVTSEL_FILTER),
				(u64)refpmu_events[i].encoding.config);
		KUNIT_EXPECT_EQ(test, req.extra_value, refpmu_events[i].encoding.config1);
	}
}

static void other_types_return_enoent(struct kunit *test)
{
	struct refpmu_request req;
	u32 type;

	VERIFIES(test, "DRC-015", "DRC-017");
	/* perf tries the next PMU only after -ENOENT. */
	for (type = PERF_TYPE_MAX; type < 1000; type++) {
		const struct refpmu_attr attr = { .type = type, .config = 0x3c };

		KUNIT_EXPECT_EQ_MSG(test, refpmu_config_parse(&attr, &caps, &req),
				    type == OWN_TYPE ? 0 : -ENOENT, "type %u", type);
	}
}

static void each_undefined_config_bit_is_rejected(struct kunit *test)
{
	struct refpmu_request req;
	unsigned int bit;

	VERIFIES(test, "DRC-030");
	for (bit = 16; bit < 64; bit++) {
		const struct refpmu_attr attr = { .type = OWN_TYPE, .config = BIT_ULL(bit) | 0x3c };
		/* INV is defined, but is invalid without CMASK. */
		const bool fine = BIT_ULL(bit) & (REFPMU_EVTSEL_EDGE | REFPMU_EVTSEL_CMASK);

		KUNIT_EXPECT_EQ_MSG(test, refpmu_config_parse(&attr, &caps, &req),
				    fine ? 0 : -EINVAL, "config bit %u", bit);
	}
	for (bit = 0; bit < 64; bit++) {
		struct refpmu_attr attr = { .type = OWN_TYPE, .config = 0x3c };

		attr.config1 = BIT_ULL(bit);
		KUNIT_EXPECT_EQ_MSG(test, refpmu_config_parse(&attr, &caps, &req), -EINVAL,
				    "config1 bit %u", bit);
		attr.config1 = 0;
		attr.config2 = BIT_ULL(bit);
		KUNIT_EXPECT_EQ_MSG(test, refpmu_config_parse(&attr, &caps, &req), -EINVAL,
				    "config2 bit %u", bit);
		attr.config2 = 0;
		attr.config3 = BIT_ULL(bit);
		KUNIT_EXPECT_EQ_MSG(test, refpmu_config_parse(&attr, &caps, &req), -EINVAL,
				    "config3 bit %u", bit);
	}
}

static void generic_event_is_accepted_or_returns_enoent(struct kunit *test)
{
	struct refpmu_request req;
	u64 config;

	for (config = 0; config < PERF_COUNT_HW_MAX; config++) {
		const struct refpmu_attr attr = { .type = PERF_TYPE_HARDWARE, .config = config };
		const int err = refpmu_config_parse(&attr, &caps, &req);

		KUNIT_EXPECT_TRUE_MSG(test, err == 0 || err == -ENOENT, "config %llu: %d", config,
				      err);
	}
}

static void large_generic_event_ids_are_rejected(struct kunit *test)
{
	struct refpmu_request req;
	unsigned int bit;

	VERIFIES(test, "DRC-031");
	for (bit = 4; bit < 64; bit++) {
		const struct refpmu_attr attr = { .type = PERF_TYPE_HARDWARE,
						  .config = BIT_ULL(bit) };

		KUNIT_EXPECT_NE_MSG(test, refpmu_config_parse(&attr, &caps, &req), 0,
				    "config bit %u", bit);
	}
}

static void minimum_period_applies_only_to_periods(struct kunit *test)
{
	struct refpmu_attr attr = { .type = OWN_TYPE, .config = 0x3c };
	struct refpmu_request req;

	VERIFIES(test, "DRC-043", "INI-035");
	attr.sample_period = caps.min_period - 1;
	KUNIT_EXPECT_EQ(test, refpmu_config_parse(&attr, &caps, &req), -EINVAL);
	attr.sample_period = caps.min_period;
	KUNIT_EXPECT_EQ(test, refpmu_config_parse(&attr, &caps, &req), 0);
	/* The minimum period applies neither to a frequency nor to a counting event. */
	attr.sample_period = 1;
	attr.freq = true;
	KUNIT_EXPECT_EQ(test, refpmu_config_parse(&attr, &caps, &req), 0);
	attr.freq = false;
	attr.sample_period = 0;
	KUNIT_EXPECT_EQ(test, refpmu_config_parse(&attr, &caps, &req), 0);
	KUNIT_EXPECT_FALSE(test, req.sampling);
}

static void changed_period_has_the_same_minimum(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, refpmu_config_check_period(0, &caps), -EINVAL);
	KUNIT_EXPECT_EQ(test, refpmu_config_check_period(caps.min_period - 1, &caps), -EINVAL);
	KUNIT_EXPECT_EQ(test, refpmu_config_check_period(caps.min_period, &caps), 0);
	KUNIT_EXPECT_EQ(test, refpmu_config_check_period(S64_MAX, &caps), 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(parse_returns_the_expected_request, config_gen_params),
	KUNIT_CASE(every_listed_event_is_accepted),
	KUNIT_CASE(other_types_return_enoent),
	KUNIT_CASE(each_undefined_config_bit_is_rejected),
	KUNIT_CASE(generic_event_is_accepted_or_returns_enoent),
	KUNIT_CASE(large_generic_event_ids_are_rejected),
	KUNIT_CASE(minimum_period_applies_only_to_periods),
	KUNIT_CASE(changed_period_has_the_same_minimum),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_config",
	.test_cases = cases,
};

kunit_test_suite(suite);
