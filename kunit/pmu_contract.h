/* SPDX-License-Identifier: GPL-2.0-only */
/* The cases of pmu_contract, of which each suite of it has all, and what they share. */
#ifndef PMU_CONTRACT_H
#define PMU_CONTRACT_H

#include "live.h"

typedef void pmu_contract_case(struct kunit *test);

/* The case x is pmu_contract_x(): other files of the kernel may have an x too. */
#define CASE(title) pmu_contract_##title
pmu_contract_case
#include "pmu_contract_list.h"
;
#undef CASE

/* For the array of a suite. */
#define CASE(title) { .run_case = pmu_contract_##title, .name = #title }

#define ALONE 0 /* the event that every case has */
#define TURNS 100 /* more than a PMU has counters */

/* Adds it; false if that fails, which is a failure of the case. */
bool contract_added(struct kunit *test, int flags);

/* It is stopped, and up to date. */
void contract_expect_settled(struct kunit *test);

/* Adds it, running, and waits until it counts, which takes so long; 0 if the case ends there. */
u64 contract_begin(struct kunit *test);

/* Whether state is kept in hw.state; else the case is skipped. */
bool contract_has_state(struct kunit *test);

/* Fills the PMU; false, and skipped, if it is never full. */
bool contract_fill(struct kunit *test, unsigned int *fit);

#endif /* PMU_CONTRACT_H */
