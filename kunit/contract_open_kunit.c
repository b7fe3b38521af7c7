// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of the guarantees of perf to a driver: from the registration to an open event. */
/* Longer than 500 lines: one suite, whose cases share the recorder and its setup. */
#include <linux/device.h>
#include <linux/err.h>
#include <linux/kernfs.h>
#include <linux/kthread.h>

#include "compat.h"
#include "compat/compat.h"
#include "recorder.h"
#include "rig.h"

static void perf_replaces_pmu_enable_and_pmu_disable_together(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct pmu *pmu = &recorder->pmu;

	VERIFIES(test, "DRC-002", "DRV-036");
	pmu->pmu_enable = NULL;
	recorder_register(test);
	KUNIT_ASSERT_NOT_NULL(test, pmu->pmu_enable);
	KUNIT_ASSERT_NOT_NULL(test, pmu->pmu_disable);
	local_irq_disable();
	perf_pmu_disable(pmu);
	perf_pmu_enable(pmu);
	local_irq_enable();
	/* perf does not call the driver's pmu_disable without its pmu_enable. */
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_DISABLE), 0U);
}

static void missing_check_period_and_event_idx_get_defaults(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct perf_event_attr attr;
	struct perf_event *event;

	VERIFIES(test, "DRC-005", "DRV-023", "DRV-036");
	recorder->pmu.check_period = NULL;
	recorder_register(test);
	attr = recorder_attr(recorder);
	attr.sample_period = 1000;
	event = recorder_open(test, &attr);
	event->hw.idx = 3;
	KUNIT_ASSERT_NOT_NULL(test, recorder->pmu.check_period);
	KUNIT_ASSERT_NOT_NULL(test, recorder->pmu.event_idx);
	KUNIT_EXPECT_EQ(test, recorder->pmu.check_period(event, 1), 0);
	KUNIT_EXPECT_EQ(test, recorder->pmu.event_idx(event), 0);
	KUNIT_EXPECT_EQ(test, perf_event_period(event, 77), 0);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 77ULL);
}

static void default_transactions_disable_and_enable_the_pmu(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct pmu *pmu = &recorder->pmu;
	unsigned int read, open, closed;
	int err;

	VERIFIES(test, "DRC-004", "DRV-036");
	recorder_register(test);
	local_irq_disable();
	pmu->start_txn(pmu, PERF_PMU_TXN_READ);
	err = pmu->commit_txn(pmu);
	read = recorder_count(recorder, RECORDER_DISABLE);
	pmu->start_txn(pmu, PERF_PMU_TXN_ADD);
	open = recorder_count(recorder, RECORDER_DISABLE);
	closed = recorder_count(recorder, RECORDER_ENABLE);
	err = err ?: pmu->commit_txn(pmu);
	pmu->start_txn(pmu, PERF_PMU_TXN_ADD);
	pmu->cancel_txn(pmu);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, read, 0U);
	KUNIT_EXPECT_EQ(test, open, 1U);
	KUNIT_EXPECT_EQ(test, closed, 0U);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_DISABLE), 2U);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_ENABLE), 2U);
}

static void default_transactions_without_pmu_enable_do_nothing(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct pmu *pmu = &recorder->pmu;
	int depth, err;

	VERIFIES(test, "DRC-004", "DRV-036");
	pmu->pmu_enable = NULL;
	pmu->pmu_disable = NULL;
	recorder_register(test);
	local_irq_disable();
	pmu->start_txn(pmu, PERF_PMU_TXN_ADD);
	depth = *compat_disable_count(pmu);
	err = pmu->commit_txn(pmu);
	pmu->start_txn(pmu, PERF_PMU_TXN_ADD);
	pmu->cancel_txn(pmu);
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, depth, 0);
	KUNIT_EXPECT_EQ(test, err, 0);
}

static void own_start_txn(struct pmu *pmu, unsigned int flags)
{
}

static void driver_with_start_txn_gets_no_transaction_defaults(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct pmu *pmu = &recorder->pmu;

	VERIFIES(test, "DRC-003");
	pmu->start_txn = own_start_txn;
	recorder_register(test);
	/* perf sets defaults only if start_txn is missing, so the other two remain NULL. */
	KUNIT_EXPECT_PTR_EQ(test, pmu->start_txn, &own_start_txn);
	KUNIT_EXPECT_NULL(test, pmu->commit_txn);
	KUNIT_EXPECT_NULL(test, pmu->cancel_txn);
}

static void registration_assigns_a_type_or_uses_the_requested_one(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct pmu *pmu = &recorder->pmu;
	const int number = PERF_TYPE_MAX + 1000;
	unsigned int i;

	VERIFIES(test, "DRC-008", "DRV-031", "SYS-017");
	recorder_register(test);
	KUNIT_EXPECT_GE(test, (int)pmu->type, (int)PERF_TYPE_MAX);
	KUNIT_EXPECT_NE(test, (int)pmu->type, (int)rig_device->pmu.type);
	recorder_unregister(recorder);
	/* Each unregistration frees the number and the name. */
	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, recorder_register_as(recorder, "recorder", number), 0);
		KUNIT_EXPECT_EQ(test, (int)pmu->type, number);
		recorder_unregister(recorder);
	}
}

static void registration_with_a_used_name_fails_without_effect(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct pmu *pmu = &recorder->pmu;
	const int number = PERF_TYPE_MAX + 1001;
	struct perf_event_attr attr = { .type = number, .size = sizeof(attr), .disabled = 1 };

	VERIFIES(test, "DRC-008", "DRC-014", "DRV-030", "SYS-017");
	KUNIT_ASSERT_NE(test, recorder_register_as(recorder, rig_device->pmu.name, number), 0);
	KUNIT_EXPECT_EQ(test, recorder_try(recorder, &attr, RECORDER_CPU, NULL), -ENOENT);
	KUNIT_EXPECT_EQ(test, recorder->n_calls, 0U);
	recorder_unregister(recorder);
	KUNIT_ASSERT_EQ(test, recorder_register_as(recorder, "recorder", number), 0);
	KUNIT_EXPECT_EQ(test, (int)pmu->type, number);
	KUNIT_EXPECT_EQ(test, recorder_try(recorder, &attr, RECORDER_CPU, NULL), 0);
}

static void unregistered_pmu_gets_no_calls(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct perf_event_attr attr;

	VERIFIES(test, "DRV-031");
	recorder_register(test);
	attr = recorder_attr(recorder);
	recorder_unregister(recorder);
	KUNIT_EXPECT_EQ(test, recorder_try(recorder, &attr, RECORDER_CPU, NULL), -ENOENT);
	KUNIT_EXPECT_EQ(test, recorder->n_calls, 0U);
}

static void event_of_an_unknown_type_reaches_every_pmu(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct perf_event_attr attr;

	VERIFIES(test, "DRC-015", "DRC-018");
	recorder_register(test);
	attr = recorder_attr(recorder);
	attr.type = RECORDER_FOREIGN;
	KUNIT_EXPECT_EQ(test, recorder_try(recorder, &attr, RECORDER_CPU, NULL), -ENOENT);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_INIT), 1U);
	/* Only ENOENT continues the search for a PMU; the opener sees any other errno. */
	recorder->foreign_error = -EBUSY;
	KUNIT_EXPECT_EQ(test, recorder_try(recorder, &attr, RECORDER_CPU, NULL), -EBUSY);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_INIT), 2U);
}

static const int answers[] = { -ENOENT, -ENODEV, -EBUSY, -EINVAL, -EOPNOTSUPP, -EACCES, -EPERM };

static void answer_desc(const int *answer, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "errno %d", -*answer);
}

KUNIT_ARRAY_PARAM(answer, answers, answer_desc);

static void result_of_event_init_is_returned_to_the_caller(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	const int *answer = test->param_value;
	struct perf_event_attr attr;

	VERIFIES(test, "DRC-016", "DRV-013", "INI-026");
	recorder->init_error = *answer;
	recorder_register(test);
	attr = recorder_attr(recorder);
	KUNIT_EXPECT_EQ(test, recorder_try(recorder, &attr, RECORDER_CPU, NULL), *answer);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_INIT), 1U);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_DESTROY), 0U);
}

struct late_refusal {
	const char *name;
	int err;
	int capabilities;
	struct perf_event_attr attr;
};

static const struct late_refusal late_refusals[] = {
	{ "user excluded", -EINVAL, PERF_PMU_CAP_NO_EXCLUDE, { .exclude_user = 1 } },
	{ "kernel excluded", -EINVAL, PERF_PMU_CAP_NO_EXCLUDE, { .exclude_kernel = 1 } },
	{ "hypervisor excluded", -EINVAL, PERF_PMU_CAP_NO_EXCLUDE, { .exclude_hv = 1 } },
	{ "idle excluded", -EINVAL, PERF_PMU_CAP_NO_EXCLUDE, { .exclude_idle = 1 } },
	{ "host excluded", -EINVAL, PERF_PMU_CAP_NO_EXCLUDE, { .exclude_host = 1 } },
	{ "guest excluded", -EINVAL, PERF_PMU_CAP_NO_EXCLUDE, { .exclude_guest = 1 } },
#ifdef CONFIG_X86
	{ "extended registers", -EOPNOTSUPP, 0,
	  { .sample_type = PERF_SAMPLE_REGS_INTR, .sample_regs_intr = PERF_REG_EXTENDED_MASK } },
	{ "extended registers of the user", -EOPNOTSUPP, 0,
	  { .sample_type = PERF_SAMPLE_REGS_USER, .sample_regs_user = PERF_REG_EXTENDED_MASK } },
#endif
};

static void late_refusal_desc(const struct late_refusal *refusal, char *desc)
{
	strscpy(desc, refusal->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(late_refusal, late_refusals, late_refusal_desc);

static void perf_checks_capabilities_after_event_init(struct kunit *test)
{
	const struct late_refusal *refusal = test->param_value;
	struct recorder *recorder = test->priv;
	struct perf_event_attr attr = refusal->attr;

	VERIFIES(test, "DRC-032", "DRC-034", "DRC-038", "DRV-015", "INI-013", "INI-014");
	recorder->pmu.capabilities = refusal->capabilities;
	recorder_register(test);
	attr.type = recorder->pmu.type;
	attr.size = sizeof(attr);
	attr.disabled = 1;
	KUNIT_EXPECT_EQ(test, recorder_try(recorder, &attr, RECORDER_CPU, NULL), refusal->err);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_INIT), 1U);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_DESTROY), 1U);
	recorder_unregister(recorder);
	/* Without the reason for the rejection, the event is accepted. */
	recorder->pmu.capabilities = refusal->capabilities ? 0 : PERF_PMU_CAP_EXTENDED_REGS;
	recorder_register(test);
	attr.type = recorder->pmu.type;
	KUNIT_EXPECT_EQ(test, recorder_try(recorder, &attr, RECORDER_CPU, NULL), 0);
}

static void kernel_event_with_a_period_reaches_a_pmu_without_interrupt(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct perf_event_attr attr;

	VERIFIES(test, "DRC-033");
	recorder->pmu.capabilities = PERF_PMU_CAP_NO_INTERRUPT;
	recorder_register(test);
	attr = recorder_attr(recorder);
	attr.sample_period = 1000;
	KUNIT_EXPECT_EQ(test, recorder_try(recorder, &attr, RECORDER_CPU, NULL), 0);
	recorder->init_error = -EOPNOTSUPP;
	KUNIT_EXPECT_EQ(test, recorder_try(recorder, &attr, RECORDER_CPU, NULL), -EOPNOTSUPP);
}

static void extended_types_reach_pmus_with_the_capability(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct perf_event_attr attr;

	VERIFIES(test, "DRC-019", "INI-009");
	recorder_register(test);
	attr = recorder_attr(recorder);
	attr.type = PERF_TYPE_HARDWARE;
	attr.config = (u64)recorder->pmu.type << PERF_PMU_TYPE_SHIFT | PERF_COUNT_HW_CPU_CYCLES;
	KUNIT_EXPECT_EQ(test, recorder_try(recorder, &attr, RECORDER_CPU, NULL), -ENOENT);
	KUNIT_EXPECT_EQ(test, recorder->n_calls, 0U);
	recorder_unregister(recorder);

	recorder->pmu.capabilities = PERF_PMU_CAP_EXTENDED_HW_TYPE;
	recorder_register(test);
	attr.config = (u64)recorder->pmu.type << PERF_PMU_TYPE_SHIFT | PERF_COUNT_HW_CPU_CYCLES;
	KUNIT_EXPECT_EQ(test, recorder_try(recorder, &attr, RECORDER_CPU, NULL), 0);
	KUNIT_EXPECT_EQ(test, recorder_last(test, RECORDER_INIT).flags, PERF_TYPE_HARDWARE);
	KUNIT_EXPECT_EQ(test, recorder_last(test, RECORDER_INIT).value,
			(u64)PERF_COUNT_HW_CPU_CYCLES);
}

/* might_sleep() in the recorder's event_init warns if sleeping is not allowed. */
static void event_init_may_sleep(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct perf_event_attr attr;

	VERIFIES(test, "DRC-021");
	recorder_register(test);
	attr = recorder_attr(recorder);
	recorder_open(test, &attr);
	KUNIT_EXPECT_FALSE(test, recorder_last(test, RECORDER_INIT).irqs_off);
	KUNIT_EXPECT_FALSE(test, recorder_last(test, RECORDER_INIT).pmu_off);
}

static void periods_are_set_before_event_init(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct perf_event_attr attr;

	VERIFIES(test, "DRC-042");
	recorder_register(test);
	attr = recorder_attr(recorder);
	recorder_open(test, &attr);
	KUNIT_EXPECT_EQ(test, recorder->hw.sample_period, 0ULL);
	attr.sample_period = 1234;
	recorder_open(test, &attr);
	KUNIT_EXPECT_EQ(test, recorder->hw.sample_period, 1234ULL);
	KUNIT_EXPECT_EQ(test, recorder->hw.last_period, 1234ULL);
	KUNIT_EXPECT_EQ(test, (u64)local64_read(&recorder->hw.period_left), 1234ULL);
	attr.freq = 1;
	recorder_open(test, &attr);
	KUNIT_EXPECT_EQ(test, recorder->hw.sample_period, 1ULL);
	KUNIT_EXPECT_EQ(test, recorder->hw.last_period, 1ULL);
	KUNIT_EXPECT_EQ(test, (u64)local64_read(&recorder->hw.period_left), 1ULL);
}

static void config_reaches_event_init_unchecked(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct perf_event_attr attr;

	VERIFIES(test, "DRC-030");
	recorder_register(test);
	attr = recorder_attr(recorder);
	attr.config = 0xfedcba9876543210;
	attr.config1 = ~0ULL;
	attr.config2 = BIT_ULL(63) | 1;
	recorder_open(test, &attr);
	KUNIT_EXPECT_EQ(test, recorder->attr.config, attr.config);
	KUNIT_EXPECT_EQ(test, recorder->attr.config1, attr.config1);
	KUNIT_EXPECT_EQ(test, recorder->attr.config2, attr.config2);
	/* perf has copied the attr, so this change has no effect on the event. */
	attr.config = 0;
	KUNIT_EXPECT_EQ(test, recorder->events[0]->attr.config, 0xfedcba9876543210ULL);
}

/* perf rejects the event only after event_init, which therefore sees a CPU of -1. */
static void system_wide_pmu_has_no_task_events(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct perf_event_attr attr;

	VERIFIES(test, "DRC-010", "DRC-028", "DRC-038");
	recorder_register(test);
	attr = recorder_attr(recorder);
	KUNIT_EXPECT_EQ(test, recorder_try(recorder, &attr, -1, current), -EINVAL);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_INIT), 1U);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_DESTROY), 1U);
}

static void exclusive_pmu_rejects_conflicting_events(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct perf_event_attr attr;

	VERIFIES(test, "DRC-094", "DRV-033", "ERR-021");
	recorder->pmu.task_ctx_nr = perf_hw_context;
	recorder->pmu.capabilities = PERF_PMU_CAP_EXCLUSIVE | REFPMU_COMPAT_CAPS;
	recorder_register(test);
	attr = recorder_attr(recorder);
	KUNIT_ASSERT_EQ(test, recorder_try(recorder, &attr, RECORDER_CPU, NULL), 0);
	/*
	 * An event of a task conflicts with that of a CPU, and so does a second event of the CPU.
	 */
	KUNIT_EXPECT_EQ(test, recorder_try(recorder, &attr, -1, current), -EBUSY);
	KUNIT_EXPECT_EQ(test, recorder_try(recorder, &attr, RECORDER_CPU, NULL), -EBUSY);
	perf_event_release_kernel(recorder->events[--recorder->n_events]);
	KUNIT_EXPECT_EQ(test, recorder_try(recorder, &attr, RECORDER_CPU, NULL), 0);
	KUNIT_EXPECT_EQ(test, recorder_count(recorder, RECORDER_DESTROY),
			recorder_count(recorder, RECORDER_INIT) - 1);
}

static int do_nothing(void *unused)
{
	return 0;
}

static void kernel_counter_needs_an_existing_task_or_cpu(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = rig_device->pmu.type,
		.size = sizeof(attr),
		.config = RIG_PULSED,
		.disabled = 1,
	};
	struct task_struct *gone = kthread_create(do_nothing, NULL, "gone");

	VERIFIES(test, "DRV-033");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, gone);
	get_task_struct(gone);
	kthread_stop(gone);
	KUNIT_EXPECT_EQ(test, recorder_try(test->priv, &attr, -1, gone), -ESRCH);
	put_task_struct(gone);
	KUNIT_EXPECT_EQ(test, recorder_try(test->priv, &attr, -1, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, recorder_try(test->priv, &attr, nr_cpu_ids, NULL), -EINVAL);
}

/* Return true if the device of the PMU has a file @name. */
static bool has_attribute(const struct recorder *recorder, const char *name)
{
	struct kernfs_node *node = kernfs_find_and_get(recorder->pmu.dev->kobj.sd, name);

	kernfs_put(node);
	return node;
}

static void device_has_attributes_for_the_features_of_the_pmu(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct perf_event_attr attr;

	VERIFIES(test, "DRC-103", "DRC-104");
	recorder_register(test);
	KUNIT_EXPECT_TRUE(test, has_attribute(recorder, "type"));
	KUNIT_EXPECT_TRUE(test, has_attribute(recorder, "perf_event_mux_interval_ms"));
	KUNIT_EXPECT_FALSE(test, has_attribute(recorder, "nr_addr_filters"));
	KUNIT_EXPECT_FALSE(test, has_attribute(recorder, "cpumask"));
	attr = recorder_attr(recorder);
	KUNIT_EXPECT_NULL(test, recorder_open(test, &attr)->addr_filter_ranges);
	recorder_unregister(recorder);

	recorder->pmu.nr_addr_filters = 2;
	recorder_register(test);
	KUNIT_EXPECT_TRUE(test, has_attribute(recorder, "nr_addr_filters"));
	attr = recorder_attr(recorder);
	KUNIT_EXPECT_NOT_NULL(test, recorder_open(test, &attr)->addr_filter_ranges);
}

static void perf_shows_the_cpumask_of_a_scope(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct perf_event_attr attr;

	VERIFIES(test, "DRC-093");
	if (!refpmu_compat_scope(&recorder->pmu))
		kunit_skip(test, "this kernel knows no scopes");
	recorder_register(test);
	KUNIT_EXPECT_TRUE(test, has_attribute(recorder, "cpumask"));
	attr = recorder_attr(recorder);
	KUNIT_ASSERT_EQ(test, recorder_try(recorder, &attr, RECORDER_CPU + 1, NULL), 0);
	/* The event stays on the requested CPU, and any CPU may read it. */
	KUNIT_EXPECT_EQ(test, recorder->events[0]->cpu, RECORDER_CPU + 1);
#ifdef PERF_EV_CAP_READ_SCOPE
	KUNIT_EXPECT_TRUE(test, recorder->events[0]->event_caps & PERF_EV_CAP_READ_SCOPE);
#endif
}

static struct kunit_case cases[] = {
	KUNIT_CASE(perf_replaces_pmu_enable_and_pmu_disable_together),
	KUNIT_CASE(missing_check_period_and_event_idx_get_defaults),
	KUNIT_CASE(default_transactions_disable_and_enable_the_pmu),
	KUNIT_CASE(default_transactions_without_pmu_enable_do_nothing),
	KUNIT_CASE(driver_with_start_txn_gets_no_transaction_defaults),
	KUNIT_CASE(registration_assigns_a_type_or_uses_the_requested_one),
	KUNIT_CASE(registration_with_a_used_name_fails_without_effect),
	KUNIT_CASE(unregistered_pmu_gets_no_calls),
	KUNIT_CASE(event_of_an_unknown_type_reaches_every_pmu),
	KUNIT_CASE_PARAM(result_of_event_init_is_returned_to_the_caller, answer_gen_params),
	KUNIT_CASE_PARAM(perf_checks_capabilities_after_event_init, late_refusal_gen_params),
	KUNIT_CASE(kernel_event_with_a_period_reaches_a_pmu_without_interrupt),
	KUNIT_CASE(extended_types_reach_pmus_with_the_capability),
	KUNIT_CASE(event_init_may_sleep),
	KUNIT_CASE(periods_are_set_before_event_init),
	KUNIT_CASE(config_reaches_event_init_unchecked),
	KUNIT_CASE(system_wide_pmu_has_no_task_events),
	KUNIT_CASE(exclusive_pmu_rejects_conflicting_events),
	KUNIT_CASE(kernel_counter_needs_an_existing_task_or_cpu),
	KUNIT_CASE(device_has_attributes_for_the_features_of_the_pmu),
	KUNIT_CASE(perf_shows_the_cpumask_of_a_scope),
	{}
};

static struct kunit_suite suite = {
	.name = "contract_open",
	.init = recorder_init,
	.exit = recorder_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
