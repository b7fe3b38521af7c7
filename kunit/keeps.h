/* SPDX-License-Identifier: GPL-2.0-only */
/* KEEPS(): names the rules of the catalogue that a case shows. */
#ifndef REFPMU_KUNIT_KEEPS_H
#define REFPMU_KUNIT_KEEPS_H

#include <linux/kconfig.h>
#include <linux/kernel.h>

#if IS_ENABLED(CONFIG_KUNIT)
#include <kunit/test.h>
#else
#include "bare.h"
#endif

/* Into the case's diagnostics, a line a rule; once for all rows of a parameterised case. */
static inline void refpmu_keeps(struct kunit *test, const char *const *rules, size_t n)
{
	size_t i;

	for (i = 0; i < n && !test->param_index; i++)
		kunit_info(test, "keeps %s\n", rules[i]);
}

/*
 * Takes the ids of one or more rules; at the top of a case, interrupts on. The case's parameter has
 * to be called test: by it lint finds the uses.
 */
#define KEEPS(test, ...)							\
	do {									\
		static const char *const kept[] = { __VA_ARGS__ };		\
										\
		refpmu_keeps(test, kept, ARRAY_SIZE(kept));			\
	} while (0)

#endif /* REFPMU_KUNIT_KEEPS_H */
