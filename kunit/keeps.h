/* SPDX-License-Identifier: GPL-2.0-only */
/* KEEPS(): names the rules that a case verifies. */
#ifndef REFPMU_KUNIT_KEEPS_H
#define REFPMU_KUNIT_KEEPS_H

#include <linux/kconfig.h>
#include <linux/kernel.h>

#if IS_ENABLED(CONFIG_KUNIT)
#include <kunit/test.h>
#else
#include "bare.h"
#endif

/*
 * Write one diagnostic line for each rule. A parameterized case does this once, not for each row.
 */
static inline void refpmu_keeps(struct kunit *test, const char *const *rules, size_t n)
{
	size_t i;

	for (i = 0; i < n && !test->param_index; i++)
		kunit_info(test, "keeps %s\n", rules[i]);
}

/*
 * The arguments are ids of rules. Use this at the start of a case, with interrupts on. The
 * parameter of the case must be named test, because lint searches for that.
 */
#define KEEPS(test, ...)							\
	do {									\
		static const char *const kept[] = { __VA_ARGS__ };		\
										\
		refpmu_keeps(test, kept, ARRAY_SIZE(kept));			\
	} while (0)

#endif /* REFPMU_KUNIT_KEEPS_H */
