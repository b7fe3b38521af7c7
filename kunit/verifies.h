/* SPDX-License-Identifier: GPL-2.0-only */
/* VERIFIES(): names the rules that a case verifies. */
#ifndef REFPMU_KUNIT_VERIFIES_H
#define REFPMU_KUNIT_VERIFIES_H

#include <linux/kconfig.h>
#include <linux/kernel.h>

#if IS_ENABLED(CONFIG_KUNIT)
#include <kunit/test.h>
#else
#include "minimal_kunit.h"
#endif

/*
 * Write one diagnostic line for each rule. A parameterized case does this once, not for each row.
 */
static inline void refpmu_log_rules(struct kunit *test, const char *const *rules, size_t n)
{
	size_t i;

	for (i = 0; i < n && !test->param_index; i++)
		kunit_info(test, "verifies %s\n", rules[i]);
}

/*
 * The arguments are ids of rules. Use this at the start of a case, with interrupts on. The
 * parameter of the case must be named test, because lint searches for that.
 */
#define VERIFIES(test, ...)							\
	do {									\
		static const char *const rules[] = { __VA_ARGS__ };		\
										\
		refpmu_log_rules(test, rules, ARRAY_SIZE(rules));		\
	} while (0)

#endif /* REFPMU_KUNIT_VERIFIES_H */
