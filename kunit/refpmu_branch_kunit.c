// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of core/branch and core/record: constants equal those of perf, and bad memory is
 * rejected.
 */
#include <kunit/test.h>
#include <linux/perf_event.h>

#include "core/branch.h"
#include "core/record.h"
#include "verifies.h"

#define USER_IP 0x401000ULL
#define KERNEL_IP 0xffffffff81000000ULL

static void branch_filter_bits_equal_those_of_perf(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, (u64)PERF_SAMPLE_BRANCH_USER, REFPMU_WANT_BRANCH_USER);
	KUNIT_EXPECT_EQ(test, (u64)PERF_SAMPLE_BRANCH_KERNEL, REFPMU_WANT_BRANCH_KERNEL);
	KUNIT_EXPECT_EQ(test, (u64)PERF_SAMPLE_BRANCH_HV, REFPMU_WANT_BRANCH_HV);
	KUNIT_EXPECT_EQ(test, (u64)PERF_SAMPLE_BRANCH_ANY, REFPMU_WANT_BRANCH_ANY);
	KUNIT_EXPECT_EQ(test, (u64)PERF_SAMPLE_BRANCH_ANY_CALL, REFPMU_WANT_BRANCH_ANY_CALL);
	KUNIT_EXPECT_EQ(test, (u64)PERF_SAMPLE_BRANCH_ANY_RETURN, REFPMU_WANT_BRANCH_ANY_RETURN);
	KUNIT_EXPECT_EQ(test, (u64)PERF_SAMPLE_BRANCH_IND_CALL, REFPMU_WANT_BRANCH_IND_CALL);
	KUNIT_EXPECT_EQ(test, (u64)PERF_SAMPLE_BRANCH_ABORT_TX, REFPMU_WANT_BRANCH_ABORT_TX);
	KUNIT_EXPECT_EQ(test, (u64)PERF_SAMPLE_BRANCH_IN_TX, REFPMU_WANT_BRANCH_IN_TX);
	KUNIT_EXPECT_EQ(test, (u64)PERF_SAMPLE_BRANCH_NO_TX, REFPMU_WANT_BRANCH_NO_TX);
	KUNIT_EXPECT_EQ(test, (u64)PERF_SAMPLE_BRANCH_COND, REFPMU_WANT_BRANCH_COND);
	KUNIT_EXPECT_EQ(test, (u64)PERF_SAMPLE_BRANCH_CALL_STACK, REFPMU_WANT_BRANCH_CALL_STACK);
	KUNIT_EXPECT_EQ(test, (u64)PERF_SAMPLE_BRANCH_IND_JUMP, REFPMU_WANT_BRANCH_IND_JUMP);
	KUNIT_EXPECT_EQ(test, (u64)PERF_SAMPLE_BRANCH_CALL, REFPMU_WANT_BRANCH_CALL);
	KUNIT_EXPECT_EQ(test, (u64)PERF_SAMPLE_BRANCH_NO_FLAGS, REFPMU_WANT_BRANCH_NO_FLAGS);
	KUNIT_EXPECT_EQ(test, (u64)PERF_SAMPLE_BRANCH_NO_CYCLES, REFPMU_WANT_BRANCH_NO_CYCLES);
	KUNIT_EXPECT_EQ(test, (u64)PERF_SAMPLE_BRANCH_TYPE_SAVE, REFPMU_WANT_BRANCH_TYPE_SAVE);
	KUNIT_EXPECT_EQ(test, (u64)PERF_SAMPLE_BRANCH_HW_INDEX, REFPMU_WANT_BRANCH_HW_INDEX);
	KUNIT_EXPECT_EQ(test, (u64)PERF_SAMPLE_BRANCH_PRIV_SAVE, REFPMU_WANT_BRANCH_PRIV_SAVE);
}

static void branch_types_equal_those_of_perf(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, (int)PERF_BR_UNKNOWN, (int)REFPMU_BRANCH_TYPE_UNKNOWN);
	KUNIT_EXPECT_EQ(test, (int)PERF_BR_COND, (int)REFPMU_BRANCH_TYPE_COND);
	KUNIT_EXPECT_EQ(test, (int)PERF_BR_UNCOND, (int)REFPMU_BRANCH_TYPE_UNCOND);
	KUNIT_EXPECT_EQ(test, (int)PERF_BR_IND, (int)REFPMU_BRANCH_TYPE_IND);
	KUNIT_EXPECT_EQ(test, (int)PERF_BR_CALL, (int)REFPMU_BRANCH_TYPE_CALL);
	KUNIT_EXPECT_EQ(test, (int)PERF_BR_IND_CALL, (int)REFPMU_BRANCH_TYPE_IND_CALL);
	KUNIT_EXPECT_EQ(test, (int)PERF_BR_RET, (int)REFPMU_BRANCH_TYPE_RET);
	KUNIT_EXPECT_EQ(test, (int)PERF_BR_PRIV_UNKNOWN, (int)REFPMU_BRANCH_PRIV_UNKNOWN);
	KUNIT_EXPECT_EQ(test, (int)PERF_BR_PRIV_USER, (int)REFPMU_BRANCH_PRIV_USER);
	KUNIT_EXPECT_EQ(test, (int)PERF_BR_PRIV_KERNEL, (int)REFPMU_BRANCH_PRIV_KERNEL);
}

static void user_filter_shows_no_kernel_address(struct kunit *test)
{
	static const struct refpmu_pebs_lbr entries[] = {
		{ USER_IP, USER_IP + 0x10, 0 },
		{ USER_IP, KERNEL_IP, 0 },
		{ KERNEL_IP, USER_IP, 0 },
		{ KERNEL_IP, KERNEL_IP + 0x10, 0 },
		{ 0, 0, 0 },
		{ USER_IP + 0x20, USER_IP, 0 },
	};
	const u64 user = REFPMU_WANT_BRANCH_USER | REFPMU_WANT_BRANCH_ANY;
	struct refpmu_branch_sample samples[ARRAY_SIZE(entries)];
	unsigned int n;

	VERIFIES(test, "DRC-078");
	n = refpmu_branch_filter(entries, ARRAY_SIZE(entries), user, samples);
	KUNIT_ASSERT_EQ(test, n, 2U);
	KUNIT_EXPECT_EQ(test, samples[0].to, USER_IP + 0x10);
	KUNIT_EXPECT_EQ(test, samples[1].from, USER_IP + 0x20);
	n = refpmu_branch_filter(entries, ARRAY_SIZE(entries), user | REFPMU_WANT_BRANCH_KERNEL,
				 samples);
	KUNIT_EXPECT_EQ(test, n, 5U);
}

static void decoding_ends_at_an_invalid_record(struct kunit *test)
{
	u64 words[4 + 8 + 4] = {};
	struct refpmu_record record;
	u64 offset = 0;

	words[0] = 32ULL << REFPMU_PEBS_SIZE_SHIFT;
	words[1] = USER_IP;
	words[4] = REFPMU_PEBS_DATA_MEMORY | 64ULL << REFPMU_PEBS_SIZE_SHIFT;
	words[8] = 0x1234;
	words[12] = 40ULL << REFPMU_PEBS_SIZE_SHIFT; /* must be 32 */
	KUNIT_EXPECT_EQ(test, refpmu_record_next(words, sizeof(words), &offset, &record), 1);
	KUNIT_EXPECT_EQ(test, record.ip, USER_IP);
	KUNIT_EXPECT_FALSE(test, record.has_memory);
	KUNIT_EXPECT_EQ(test, refpmu_record_next(words, sizeof(words), &offset, &record), 1);
	KUNIT_EXPECT_TRUE(test, record.has_memory);
	KUNIT_EXPECT_EQ(test, record.memory.address, 0x1234ULL);
	KUNIT_EXPECT_EQ(test, refpmu_record_next(words, sizeof(words), &offset, &record), -EINVAL);
	KUNIT_EXPECT_EQ(test, offset, 96ULL);
	KUNIT_EXPECT_EQ(test, refpmu_record_next(words, 96, &offset, &record), 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(branch_filter_bits_equal_those_of_perf),
	KUNIT_CASE(branch_types_equal_those_of_perf),
	KUNIT_CASE(user_filter_shows_no_kernel_address),
	KUNIT_CASE(decoding_ends_at_an_invalid_record),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_branch",
	.test_cases = cases,
};

kunit_test_suite(suite);
