/* SPDX-License-Identifier: GPL-2.0-only */
/* Run the cases of a suite with uncore_scope=1, and again with uncore_scope=0. */
#ifndef REFPMU_KUNIT_SCOPE_H
#define REFPMU_KUNIT_SCOPE_H

#include <kunit/test.h>

/*
 * Whether the kernel chooses the CPU of refpmu_uncore, if it can. Without that, the driver
 * designates a CPU, as on kernels without PMU scopes.
 */
struct scope_choice {
	const char *name;
	bool scope;
};

/* For KUNIT_ARRAY_PARAM(). */
extern const struct scope_choice scope_choices[2];
void scope_desc(const struct scope_choice *choice, char *desc);

/*
 * For .init and .suite_exit of a suite. scope_init() loads the driver again if the case has another
 * choice than the previous one. No event may be open at that time.
 */
int scope_init(struct kunit *test);
void scope_suite_exit(struct kunit_suite *suite);

#endif /* REFPMU_KUNIT_SCOPE_H */
