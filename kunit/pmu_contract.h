/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations of pmu_contract. Each of its suites runs all its cases. */
#ifndef PMU_CONTRACT_H
#define PMU_CONTRACT_H

#include "dut.h"

typedef void pmu_contract_case(struct kunit *test);

/* Case x is the function pmu_contract_x(), because other files of the kernel may define x. */
#define CASE(title) pmu_contract_##title
pmu_contract_case
#include "pmu_contract_list.h"
;
#undef CASE

/* Entry of a suite's array of cases. */
#define CASE(title) { .run_case = pmu_contract_##title, .name = #title }

#define FIRST 0 /* the event that every case has */
#define ROUNDS 100 /* more than a PMU has counters */

/* Add the event. Return false, with a failed case, if that fails. */
bool contract_add(struct kunit *test, int flags);

/* Expect the event to be stopped and up to date. */
void contract_expect_stopped_uptodate(struct kunit *test);

/*
 * Add the event, started, and wait until it counts. Return the nanoseconds that this took; 0 if the
 * case must end.
 */
u64 contract_begin(struct kunit *test);

/* Return true if the PMU keeps its state in hw.state; otherwise skip the case. */
bool contract_has_state(struct kunit *test);

/* Fill the PMU with events. Return false, with the case skipped, if it is never full. */
bool contract_fill(struct kunit *test, unsigned int *fit);

#endif /* PMU_CONTRACT_H */
