/* SPDX-License-Identifier: GPL-2.0-only */
/* The cases of pmu_contract, of which each suite of it has all, and what they share. */
#ifndef PMU_CONTRACT_H
#define PMU_CONTRACT_H

#include "live.h"

/* Every case once, in the order in which they run. */
#define PMU_CONTRACT_CASES(each)						\
	each(operations_are_complete)						\
	each(type_and_name_are_those_of_the_device)				\
	each(device_has_the_files_of_perf)					\
	each(formats_name_bits_of_a_field)					\
	each(open_event_holds_the_module)					\
	each(foreign_types_are_nobodys)						\
	each(odd_requests_are_taken_or_refused_whole)				\
	each(sampling_is_refused_without_interrupt)				\
	each(events_of_tasks_are_refused_machine_wide)				\
	each(exclusion_is_refused_where_there_is_none)				\
	each(destructor_runs_once)						\
	each(callbacks_leave_things_as_they_were)				\
	each(add_without_start_is_an_add_and_a_stop)				\
	each(added_event_is_stopped_until_it_is_started)			\
	each(add_with_start_counts)						\
	each(del_settles_a_running_event)					\
	each(del_of_a_stopped_event_adds_nothing)				\
	each(count_goes_on_at_the_next_add)					\
	each(del_gives_the_counter_back)					\
	each(failed_add_leaves_nothing)						\
	each(full_pmu_takes_new_events)						\
	each(group_is_judged_whole_however_busy_the_pmu_is)			\
	each(software_leader_needs_no_counter)					\
	each(events_that_are_on_share_no_counter)				\
	each(every_event_that_is_on_counts)					\
	each(stop_with_update_settles)						\
	each(stopped_event_does_not_count)					\
	each(stop_without_update_claims_no_more_than_it_did)			\
	each(second_stop_changes_nothing)					\
	each(start_goes_on_after_a_stop)					\
	each(time_between_stop_and_start_is_not_counted)			\
	each(start_without_an_area_leaves_it_stopped)				\
	each(reads_never_go_back)						\
	each(nothing_counts_while_the_pmu_is_off)				\
	each(transaction_is_committed)						\
	each(cancelled_transaction_leaves_nothing)				\
	each(group_that_does_not_fit_is_undone)					\
	each(reading_transaction_disturbs_nothing)				\
	each(counter_of_the_kernel_counts)

/* The case x is pmu_contract_x(): other files of the kernel may have an x too. */
#define PMU_CONTRACT_DECLARE(title) void pmu_contract_##title(struct kunit *test);
PMU_CONTRACT_CASES(PMU_CONTRACT_DECLARE)

/* For the array of a suite. */
#define PMU_CONTRACT_CASE(title) { .run_case = pmu_contract_##title, .name = #title },

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
