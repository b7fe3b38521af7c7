// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of the callbacks: the effect of start, stop, read, enable and disable on the count.
 */
/* Longer than 500 lines: one suite of the callbacks, whose cases share their setup. */
#include <linux/hw_breakpoint.h>

#include "core_pmu/pmu.h"
#include "uncore/uncore.h"
#include "rig.h"

#define SETTLED (PERF_HES_STOPPED | PERF_HES_UPTODATE)

static void callbacks_without_default_are_set(struct kunit *test)
{
	const struct pmu *pmu = &rig_device->pmu;

	VERIFIES(test, "DRC-001");
	/* perf calls these without a NULL check. */
	KUNIT_EXPECT_NOT_NULL(test, pmu->event_init);
	KUNIT_EXPECT_NOT_NULL(test, pmu->add);
	KUNIT_EXPECT_NOT_NULL(test, pmu->del);
	KUNIT_EXPECT_NOT_NULL(test, pmu->start);
	KUNIT_EXPECT_NOT_NULL(test, pmu->stop);
	KUNIT_EXPECT_NOT_NULL(test, pmu->read);
}

static void perf_replaces_no_callback_of_the_driver(struct kunit *test)
{
	const struct pmu *pmu = &rig_device->pmu;

	VERIFIES(test, "DRC-002", "DRC-003");
	/*
	 * If pmu_enable or start_txn were missing, perf would have replaced the whole set by
	 * defaults.
	 */
	KUNIT_EXPECT_PTR_EQ(test, pmu->pmu_enable, refpmu_pmu_ops.pmu_enable);
	KUNIT_EXPECT_PTR_EQ(test, pmu->pmu_disable, refpmu_pmu_ops.pmu_disable);
	KUNIT_EXPECT_PTR_EQ(test, pmu->start_txn, refpmu_pmu_ops.start_txn);
	KUNIT_EXPECT_PTR_EQ(test, pmu->commit_txn, refpmu_pmu_ops.commit_txn);
	KUNIT_EXPECT_PTR_EQ(test, pmu->cancel_txn, refpmu_pmu_ops.cancel_txn);
	KUNIT_EXPECT_NOT_NULL(test, refpmu_pmu_ops.pmu_enable);
	KUNIT_EXPECT_NOT_NULL(test, refpmu_pmu_ops.pmu_disable);
	KUNIT_EXPECT_NOT_NULL(test, refpmu_pmu_ops.start_txn);
	KUNIT_EXPECT_NOT_NULL(test, refpmu_pmu_ops.commit_txn);
	KUNIT_EXPECT_NOT_NULL(test, refpmu_pmu_ops.cancel_txn);
	KUNIT_EXPECT_NOT_NULL(test, pmu->check_period);
}

static void device_without_events_is_idle(struct kunit *test)
{
	const struct rig *rig = test->priv;
	unsigned int i;

	VERIFIES(test, "DRV-039");
	for (i = 0; i < rig_device->params.general; i++)
		KUNIT_EXPECT_EQ_MSG(test, rig_reg(REFPMU_REG_EVTSEL(i)) & REFPMU_EVTSEL_EN, 0ULL,
				    "counter %u", i);
	KUNIT_EXPECT_EQ(test, rig_reg(REFPMU_REG_FIXED_CTR_CTRL), 0ULL);
	KUNIT_EXPECT_EQ(test, rig_reg(REFPMU_REG_GLOBAL_CTRL), 0ULL);
	KUNIT_EXPECT_EQ(test, rig_reg(REFPMU_REG_GLOBAL_STATUS), 0ULL);
	KUNIT_EXPECT_EQ(test, rig->cpuc->used, 0ULL);
	KUNIT_EXPECT_EQ(test, rig->cpuc->n_events, 0U);
	KUNIT_EXPECT_EQ(test, rig->cpuc->running, 0U);
	KUNIT_EXPECT_EQ(test, rig->cpuc->disable_depth, 0U);
}

static void enable_without_events_enables_nothing(struct kunit *test)
{
	u64 ctrl;

	VERIFIES(test, "DRC-081");
	local_irq_disable();
	perf_pmu_disable(&rig_device->pmu);
	perf_pmu_enable(&rig_device->pmu);
	ctrl = rig_reg(REFPMU_REG_GLOBAL_CTRL);
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, ctrl, 0ULL);
}

static void add_without_start_counts_nothing(struct kunit *test)
{
	struct perf_event *event = rig_open_pulsed(test);
	u64 before, later, count;
	int err, state;

	VERIFIES(test, "DRC-047", "DRV-004");
	local_irq_disable();
	err = rig_add(event, 0);
	state = event->hw.state;
	rig_tick(RIG_PULSED, 100);
	before = rig_read(event);
	/* The event also stays off after the PMU was disabled and enabled. */
	perf_pmu_disable(event->pmu);
	perf_pmu_enable(event->pmu);
	rig_tick(RIG_PULSED, 100);
	later = rig_read(event);
	rig_start(event, PERF_EF_RELOAD);
	rig_tick(RIG_PULSED, 5);
	rig_del(event);
	count = rig_count(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, state & SETTLED, SETTLED);
	KUNIT_EXPECT_EQ(test, before, 0ULL);
	KUNIT_EXPECT_EQ(test, later, 0ULL);
	KUNIT_EXPECT_EQ(test, count, 5ULL);
}

static void add_with_start_counts_at_once(struct kunit *test)
{
	struct perf_event *event = rig_open_pulsed(test);
	int err, state, idx;
	u64 count;

	VERIFIES(test, "DRC-047", "DRV-005");
	local_irq_disable();
	err = rig_add(event, PERF_EF_START);
	state = event->hw.state;
	idx = event->hw.idx;
	rig_tick(RIG_PULSED, 100);
	rig_tick(RIG_PULSED_TOO, 7);
	rig_del(event);
	count = rig_count(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, state, 0);
	KUNIT_EXPECT_GE(test, idx, 0);
	KUNIT_EXPECT_EQ(test, count, 100ULL);
}

static void stop_is_idempotent(struct kunit *test)
{
	struct perf_event *event = rig_open_pulsed(test);
	struct perf_event *bystander = rig_open_pulsed(test);
	u64 stopped, count, others;
	int state;

	VERIFIES(test, "DRC-055", "DRC-060", "DRV-009");
	local_irq_disable();
	rig_add(bystander, PERF_EF_START);
	rig_add(event, PERF_EF_START);
	rig_tick(RIG_PULSED, 3);
	rig_stop(event, PERF_EF_UPDATE);
	rig_stop(event, PERF_EF_UPDATE);
	/* A driver that counts each stop would stop the other event now, and not any more later. */
	rig_tick(RIG_PULSED, 1);
	rig_stop(event, 0);
	state = event->hw.state;
	rig_tick(RIG_PULSED, 7);
	stopped = rig_read(event);
	rig_start(event, PERF_EF_RELOAD);
	rig_tick(RIG_PULSED, 2);
	rig_del(event);
	count = rig_count(event);
	rig_del(bystander);
	others = rig_count(bystander);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, state, SETTLED);
	KUNIT_EXPECT_EQ(test, stopped, 3ULL);
	KUNIT_EXPECT_EQ(test, count, 5ULL);
	KUNIT_EXPECT_EQ(test, others, 13ULL);
}

static void second_start_changes_nothing(struct kunit *test)
{
	struct perf_event *event = rig_open_pulsed(test);
	unsigned int running;
	u64 count;

	local_irq_disable();
	rig_add(event, PERF_EF_START);
	rig_tick(RIG_PULSED, 3);
	rig_start(event, 0);
	running = rig_cpu()->running;
	rig_tick(RIG_PULSED, 4);
	rig_del(event);
	count = rig_count(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, running, 1U);
	KUNIT_EXPECT_EQ(test, count, 7ULL);
}

static void late_update_folds_once(struct kunit *test)
{
	struct perf_event *event = rig_open_pulsed(test);
	int early, late;
	u64 once, twice;

	VERIFIES(test, "DRC-052", "DRV-009");
	local_irq_disable();
	rig_add(event, PERF_EF_START);
	rig_tick(RIG_PULSED, 42);
	rig_stop(event, 0);
	early = event->hw.state;
	rig_stop(event, PERF_EF_UPDATE);
	late = event->hw.state;
	once = rig_count(event);
	rig_stop(event, PERF_EF_UPDATE);
	twice = rig_count(event);
	rig_del(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, early, PERF_HES_STOPPED);
	KUNIT_EXPECT_EQ(test, late, SETTLED);
	KUNIT_EXPECT_EQ(test, once, 42ULL);
	KUNIT_EXPECT_EQ(test, twice, 42ULL);
}

static void start_without_reload_continues(struct kunit *test)
{
	struct perf_event *event = rig_open_pulsed(test);
	u64 count;

	VERIFIES(test, "DRC-053", "DRV-011");
	local_irq_disable();
	rig_add(event, PERF_EF_START);
	rig_tick(RIG_PULSED, 3);
	rig_stop(event, 0);
	rig_tick(RIG_PULSED, 100);
	rig_start(event, 0);
	rig_tick(RIG_PULSED, 4);
	rig_stop(event, PERF_EF_UPDATE);
	count = rig_count(event);
	rig_del(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, count, 7ULL);
}

static void read_adds_only_new_events(struct kunit *test)
{
	struct perf_event *event = rig_open_pulsed(test);
	u64 first, again, later, stopped;

	VERIFIES(test, "DRC-058", "DRC-060", "DRV-012");
	local_irq_disable();
	rig_add(event, PERF_EF_START);
	rig_tick(RIG_PULSED, 5);
	first = rig_read(event);
	again = rig_read(event);
	rig_tick(RIG_PULSED, 2);
	later = rig_read(event);
	rig_stop(event, PERF_EF_UPDATE);
	stopped = rig_read(event);
	rig_del(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, first, 5ULL);
	KUNIT_EXPECT_EQ(test, again, 5ULL);
	KUNIT_EXPECT_EQ(test, later, 7ULL);
	KUNIT_EXPECT_EQ(test, stopped, 7ULL);
}

#ifdef CONFIG_HAVE_HW_BREAKPOINT
static struct {
	struct perf_event *event;
	unsigned int left; /* number of accesses until the break-in, including that one; 0: none */
} between;

/*
 * The hardware breakpoint traps right after the access. Its handler once generates an event and
 * reads it.
 */
static void read_in_between(struct perf_event *bp, struct perf_sample_data *data,
			    struct pt_regs *regs)
{
	if (!between.left || --between.left)
		return;
	rig_tick(RIG_PULSED, 1);
	between.event->pmu->read(between.event);
}

/* More accesses than a read makes to one variable. */
#define MAX_ACCESSES 20

/*
 * Break in after each access of a read to @address. Return the number of accesses. A read accesses
 * prev_count before and after it reads the counter, and logs the access to the counter in between.
 */
static unsigned int break_in(struct kunit *test, struct perf_event *event, const char *what,
			     const void *address)
{
	struct perf_event_attr attr;
	struct perf_event *breakpoint;
	unsigned int n;

	hw_breakpoint_init(&attr);
	attr.bp_addr = (unsigned long)address;
	attr.bp_len = HW_BREAKPOINT_LEN_8;
	attr.bp_type = HW_BREAKPOINT_RW;
	breakpoint = perf_event_create_kernel_counter(&attr, RIG_CPU, NULL, read_in_between, NULL);
	KUNIT_EXPECT_FALSE(test, IS_ERR(breakpoint));
	if (IS_ERR(breakpoint))
		return 0;
	for (n = 1; n < MAX_ACCESSES; n++) {
		u64 before = rig_count(event), count;
		bool broke_in;

		local_irq_disable();
		rig_add(event, PERF_EF_START);
		rig_tick(RIG_PULSED, 1);
		between.left = n;
		event->pmu->read(event);
		broke_in = !between.left;
		between.left = 0;
		count = rig_count(event) - before;
		rig_del(event);
		local_irq_enable();

		if (!broke_in)
			break;
		KUNIT_EXPECT_EQ_MSG(test, count, 2ULL, "after access %u to %s", n, what);
		KUNIT_EXPECT_EQ_MSG(test, rig_count(event) - before, 2ULL,
				    "after access %u to %s, deleted", n, what);
	}
	perf_event_release_kernel(breakpoint);
	return n - 1;
}

static void nested_read_adds_no_event_twice(struct kunit *test)
{
	struct perf_event *event = rig_open_pulsed(test);
	const struct rig *rig = test->priv;
	unsigned int n;

	VERIFIES(test, "DRC-058", "DRC-059", "NMI-002");
	between.event = event;
	n = break_in(test, event, "prev_count", &event->hw.prev_count);
	KUNIT_EXPECT_GE(test, n, 2U);
	/* The calls of read and the accesses to the counter are logged. */
	n = break_in(test, event, "the log", &rig->cpuc->journal.next);
	KUNIT_EXPECT_GE(test, n, 2U);
	n = break_in(test, event, "count", &event->count);
	KUNIT_EXPECT_GE(test, n, 1U);
	n = break_in(test, event, "period_left", &event->hw.period_left);
	KUNIT_EXPECT_GE(test, n, 1U);
}
#else
static void nested_read_adds_no_event_twice(struct kunit *test)
{
	kunit_skip(test, "no breakpoints on this machine");
}
#endif

/*
 * Check the attributes as sysfs requires them. A list without a terminator would be read past its
 * end.
 */
static void expect_attributes(struct kunit *test, const struct pmu *pmu)
{
	const unsigned int limit = 100;
	unsigned int g, i;

	KUNIT_EXPECT_NULL(test, pmu->attr_update);
	for (g = 0; g < limit && pmu->attr_groups[g]; g++) {
		struct attribute **attrs = pmu->attr_groups[g]->attrs;

		KUNIT_ASSERT_NOT_NULL(test, attrs);
		for (i = 0; i < limit && attrs[i]; i++) {
			const struct device_attribute *attr;

			attr = container_of(attrs[i], struct device_attribute, attr);
			KUNIT_EXPECT_NOT_NULL(test, attr->attr.name);
			KUNIT_EXPECT_NOT_NULL_MSG(test, attr->show, "%s", attr->attr.name);
			KUNIT_EXPECT_EQ_MSG(test, attr->attr.mode & ~0666, 0, "%s",
					    attr->attr.name);
		}
		KUNIT_EXPECT_LT(test, i, limit);
		KUNIT_EXPECT_GT(test, i, 0U);
	}
	KUNIT_EXPECT_LT(test, g, limit);
	KUNIT_EXPECT_GT(test, g, 0U);
}

static void pmus_have_valid_names_types_and_contexts(struct kunit *test)
{
	struct pmu *const pmus[] = { &rig_device->pmu, &refpmu_uncore.pmu };
	unsigned int i;

	VERIFIES(test, "DRC-007", "DRC-010", "DRC-011", "DRC-013", "DRC-109");
	for (i = 0; i < ARRAY_SIZE(pmus); i++) {
		KUNIT_ASSERT_NOT_NULL(test, pmus[i]->name);
		KUNIT_EXPECT_GT(test, strlen(pmus[i]->name), (size_t)0);
		KUNIT_EXPECT_GE(test, (int)pmus[i]->type, (int)PERF_TYPE_MAX);
#ifdef PERF_EV_CAP_READ_SCOPE
		KUNIT_EXPECT_LT(test, (int)pmus[i]->scope, (int)PERF_PMU_MAX_SCOPE);
#endif
		expect_attributes(test, pmus[i]);
	}
	/*
	 * perf has not changed the context of one PMU, and does not treat the other as a core PMU.
	 */
	KUNIT_EXPECT_EQ(test, (int)pmus[0]->task_ctx_nr, (int)perf_hw_context);
	KUNIT_EXPECT_EQ(test, (int)pmus[1]->task_ctx_nr, (int)perf_invalid_context);
}

static void disabled_pmu_counts_nothing(struct kunit *test)
{
	struct perf_event *event = rig_open_pulsed(test);
	u64 off, inner, on;

	VERIFIES(test, "DRC-080");
	local_irq_disable();
	rig_add(event, PERF_EF_START);
	perf_pmu_disable(event->pmu);
	rig_tick(RIG_PULSED, 9);
	perf_pmu_disable(event->pmu);
	perf_pmu_enable(event->pmu);
	off = rig_read(event);
	rig_tick(RIG_PULSED, 9);
	inner = rig_read(event);
	perf_pmu_enable(event->pmu);
	rig_tick(RIG_PULSED, 1);
	on = rig_read(event);
	rig_del(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, off, 0ULL);
	KUNIT_EXPECT_EQ(test, inner, 0ULL);
	KUNIT_EXPECT_EQ(test, on, 1ULL);
}

static void nested_disables_do_not_reach_the_driver(struct kunit *test)
{
	const local64_t *calls = ((struct rig *)test->priv)->cpuc->journal.calls;
	u64 enables, disables;

	VERIFIES(test, "DRC-080", "DRV-003");
	local_irq_disable();
	enables = local64_read(&calls[REFPMU_CALL_ENABLE]);
	disables = local64_read(&calls[REFPMU_CALL_DISABLE]);
	perf_pmu_disable(&rig_device->pmu);
	perf_pmu_disable(&rig_device->pmu);
	perf_pmu_enable(&rig_device->pmu);
	perf_pmu_enable(&rig_device->pmu);
	enables = local64_read(&calls[REFPMU_CALL_ENABLE]) - enables;
	disables = local64_read(&calls[REFPMU_CALL_DISABLE]) - disables;
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, enables, 1ULL);
	KUNIT_EXPECT_EQ(test, disables, 1ULL);
}

static void count_survives_an_unhandled_wrap(struct kunit *test)
{
	struct perf_event *event = rig_open_pulsed(test);
	const u64 near_the_top = refpmu_low_bits(rig_device->params.width) - 9;
	u64 status, count;

	VERIFIES(test, "CNT-007", "DRC-061");
	local_irq_disable();
	rig_add(event, PERF_EF_START);
	/* All these events count as folded already. */
	rig_set_reg(REFPMU_REG_A_PMC(event->hw.idx), near_the_top);
	local64_set(&event->hw.prev_count, near_the_top);
	rig_tick(RIG_PULSED, 1000);
	status = rig_reg(REFPMU_REG_GLOBAL_STATUS);
	rig_stop(event, PERF_EF_UPDATE);
	count = rig_count(event);
	rig_del(event);
	local_irq_enable();

	KUNIT_EXPECT_NE(test, status, 0ULL);
	KUNIT_EXPECT_EQ(test, count, 1000ULL);
}

static void privilege_filters_are_programmed(struct kunit *test)
{
	struct perf_event_attr attr = rig_attr(RIG_PULSED);
	struct perf_event *user, *kernel;
	u64 in_user, in_kernel;

	attr.exclude_kernel = 1;
	user = rig_open(test, &attr);
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	kernel = rig_open(test, &attr);

	local_irq_disable();
	rig_add(user, PERF_EF_START);
	rig_add(kernel, PERF_EF_START);
	refpmu_model_pulse(&rig_cpu()->model, RIG_PULSED, 3, REFPMU_USER, true);
	refpmu_model_pulse(&rig_cpu()->model, RIG_PULSED, 50, REFPMU_KERNEL, true);
	rig_del(user);
	rig_del(kernel);
	in_user = rig_count(user);
	in_kernel = rig_count(kernel);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, in_user, 3ULL);
	KUNIT_EXPECT_EQ(test, in_kernel, 50ULL);
}

static void perf_reads_exactly_the_events_while_enabled(struct kunit *test)
{
	struct perf_event *event = rig_open_pulsed(test);
	u64 enabled, running;

	VERIFIES(test, "DRV-033");
	rig_pulse(test, RIG_PULSED, 1000);
	perf_event_enable(event);
	rig_pulse(test, RIG_PULSED, 12345);
	KUNIT_EXPECT_EQ(test, perf_event_read_value(event, &enabled, &running), 12345ULL);
	perf_event_disable(event);
	rig_pulse(test, RIG_PULSED, 1000);
	KUNIT_EXPECT_EQ(test, perf_event_read_value(event, &enabled, &running), 12345ULL);
	perf_event_enable(event);
	rig_pulse(test, RIG_PULSED, 5);
	KUNIT_EXPECT_EQ(test, perf_event_read_value(event, &enabled, &running), 12350ULL);
	KUNIT_EXPECT_EQ(test, enabled, running);
}

static void events_of_another_cpu_are_not_counted(struct kunit *test)
{
	struct perf_event_attr attr = rig_attr(RIG_PULSED);
	struct rig *rig = test->priv;
	struct perf_event *event;
	u64 enabled, running;

	VERIFIES(test, "DRV-035");
	if (num_online_cpus() < 2)
		kunit_skip(test, "one CPU");
	event = perf_event_create_kernel_counter(&attr, RIG_CPU + 1, NULL, NULL, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	rig->events[rig->n_events++] = event;
	perf_event_enable(event);
	rig_pulse(test, RIG_PULSED, 1000);
	KUNIT_EXPECT_EQ(test, perf_event_read_value(event, &enabled, &running), 0ULL);
	/* The event did run; its clock may stand still while the CPU is idle. */
	KUNIT_EXPECT_EQ(test, (int)event->state, (int)PERF_EVENT_STATE_ACTIVE);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(callbacks_without_default_are_set),
	KUNIT_CASE(perf_replaces_no_callback_of_the_driver),
	KUNIT_CASE(device_without_events_is_idle),
	KUNIT_CASE(enable_without_events_enables_nothing),
	KUNIT_CASE(add_without_start_counts_nothing),
	KUNIT_CASE(add_with_start_counts_at_once),
	KUNIT_CASE(stop_is_idempotent),
	KUNIT_CASE(second_start_changes_nothing),
	KUNIT_CASE(late_update_folds_once),
	KUNIT_CASE(start_without_reload_continues),
	KUNIT_CASE(read_adds_only_new_events),
	KUNIT_CASE(nested_read_adds_no_event_twice),
	KUNIT_CASE(pmus_have_valid_names_types_and_contexts),
	KUNIT_CASE(disabled_pmu_counts_nothing),
	KUNIT_CASE(nested_disables_do_not_reach_the_driver),
	KUNIT_CASE(count_survives_an_unhandled_wrap),
	KUNIT_CASE(privilege_filters_are_programmed),
	KUNIT_CASE(perf_reads_exactly_the_events_while_enabled),
	KUNIT_CASE(events_of_another_cpu_are_not_counted),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_pmu",
	.init = rig_init,
	.exit = rig_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
