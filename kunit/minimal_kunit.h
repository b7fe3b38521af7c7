/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A minimal replacement of KUnit for pmu_contract, for kernels without KUnit. The cases run when
 * the module is loaded.
 */
#ifndef PMU_CONTRACT_MINIMAL_KUNIT_H
#define PMU_CONTRACT_MINIMAL_KUNIT_H

#include <linux/module.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/types.h>

struct kunit {
	void *priv;
	const char *name;
	int param_index;
	bool failed;
	bool skipped;
	char why[256];
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
};

struct kunit_suite {
	const char *name;
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
};

#define KUNIT_CASE(function) { .run_case = function, .name = #function }

#define minimal_log(test, fmt, ...) \
	pr_info("    # %s: " fmt, (test)->name, ##__VA_ARGS__)
#define kunit_info(test, fmt, ...) minimal_log(test, fmt, ##__VA_ARGS__)
#define kunit_err(test, fmt, ...) minimal_log(test, fmt, ##__VA_ARGS__)

#define kunit_mark_skipped(test, fmt, ...)					\
	do {									\
		(test)->skipped = true;						\
		scnprintf((test)->why, sizeof((test)->why), fmt, ##__VA_ARGS__); \
	} while (0)

#define KUNIT_EXPECT_TRUE_MSG(test, condition, fmt, ...)			\
	do {									\
		if (!(condition)) {						\
			(test)->failed = true;					\
			minimal_log(test, "%s:%d: expected %s: " fmt "\n", \
				    kbasename(__FILE__), __LINE__,		\
				    #condition, ##__VA_ARGS__);			\
		}								\
	} while (0)

struct minimal_tally {
	unsigned int passed;
	unsigned int failed;
	unsigned int skipped;
};

static inline void minimal_run_case(const struct kunit_suite *suite, const struct kunit_case *one,
				    unsigned int number, struct minimal_tally *tally)
{
	struct kunit test = { .name = one->name };
	const int err = suite->init(&test);

	if (err) {
		minimal_log(&test, "could not begin: %d\n", err);
		test.failed = true;
	} else {
		if (!test.skipped && !test.failed)
			one->run_case(&test);
		suite->exit(&test);
	}
	if (test.failed)
		tally->failed++;
	else if (test.skipped)
		tally->skipped++;
	else
		tally->passed++;
	if (test.skipped && !test.failed)
		pr_info("    ok %u %s # SKIP %s\n", number, one->name, test.why);
	else
		pr_info("    %s %u %s\n", test.failed ? "not ok" : "ok", number, one->name);
}

/* The suite of the module; kunit_test_suite() defines it. */
static const struct kunit_suite *const minimal_suite;

/* Run the suite and write its results as KTAP to the kernel log. */
static inline int __init minimal_run(void)
{
	const struct kunit_suite *const suite = minimal_suite;
	struct minimal_tally tally = { 0 };
	unsigned int n = 0, i;

	while (suite->test_cases[n].run_case)
		n++;
	pr_info("KTAP version 1\n");
	pr_info("1..1\n");
	pr_info("    KTAP version 1\n");
	pr_info("    # Subtest: %s\n", suite->name);
	pr_info("    1..%u\n", n);
	for (i = 0; i < n; i++)
		minimal_run_case(suite, &suite->test_cases[i], i + 1, &tally);
	pr_info("# %s: pass:%u fail:%u skip:%u total:%u\n", suite->name, tally.passed, tally.failed,
		tally.skipped, n);
	pr_info("%s 1 %s\n", tally.failed ? "not ok" : "ok", suite->name);
	return 0;
}

static inline void __exit minimal_exit(void)
{
}

#define kunit_test_suite(suite)						\
	static const struct kunit_suite *const minimal_suite = &(suite); \
	module_init(minimal_run);					\
	module_exit(minimal_exit)

#endif /* PMU_CONTRACT_MINIMAL_KUNIT_H */
