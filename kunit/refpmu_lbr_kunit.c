// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of the branch records: their contents in samples, and their separation by task. */
/* Longer than 500 lines: one suite, whose cases share the branches and the checks of samples. */
#include <linux/slab.h>

#include "compat.h"
#include "core_pmu/irq.h"
#include "core_pmu/lbr.h"
#include "rig.h"

#define USER_CODE 0x401000ULL
#define KERNEL_CODE 0xffffffff81000000ULL
#define BOTH_RINGS (PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL)

/* Branches of a case: for each branch type, one in the kernel and one in user space. */
#define N_BRANCHES (2 * REFPMU_BRANCH_MAX)

static struct refpmu_branch branch_no(unsigned int i, enum refpmu_privilege *privilege)
{
	const u64 code = (i & 1 ? USER_CODE : KERNEL_CODE) + 0x100 * i;

	*privilege = i & 1 ? REFPMU_USER : REFPMU_KERNEL;
	return (struct refpmu_branch){
		.from = code,
		.to = code + 0x10,
		.kind = i / 2,
		.cycles = i + 1,
	};
}

static void generate_all_types(void)
{
	unsigned int i;

	for (i = 0; i < N_BRANCHES; i++) {
		enum refpmu_privilege privilege;
		const struct refpmu_branch branch = branch_no(i, &privilege);

		rig_branch(&branch, privilege);
	}
}

/* A call or return in user space. The target identifies the call. */
static void call(u64 to)
{
	const struct refpmu_branch branch = {
		.from = USER_CODE,
		.to = to,
		.kind = REFPMU_BRANCH_REL_CALL,
	};

	rig_branch(&branch, REFPMU_USER);
}

static void ret(void)
{
	const struct refpmu_branch branch = {
		.from = USER_CODE + 8,
		.to = USER_CODE,
		.kind = REFPMU_BRANCH_RET,
	};

	rig_branch(&branch, REFPMU_USER);
}

static struct perf_event *open_branches(struct kunit *test, u64 config, u64 filter)
{
	struct perf_event_attr attr = rig_attr(config);

	attr.sample_period = 10;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = filter;
	/* Newer kernels limit the branches by that. perf sets a default only for user space. */
	attr.sample_max_stack = N_BRANCHES;
	return rig_open(test, &attr);
}

#define TYPE(kind) BIT(REFPMU_BRANCH_##kind)
#define ALL_TYPES (BIT(REFPMU_BRANCH_MAX) - 1)

struct filter {
	const char *name;
	u64 filter;
	u32 kinds; /* set of enum refpmu_branch_kind that passes the filter */
};

static const struct filter filters[] = {
	{ "any", PERF_SAMPLE_BRANCH_ANY | BOTH_RINGS, ALL_TYPES },
	{ "any, user space", PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER, ALL_TYPES },
	{ "any, kernel", PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL, ALL_TYPES },
	{ "calls", PERF_SAMPLE_BRANCH_ANY_CALL | BOTH_RINGS,
	  TYPE(REL_CALL) | TYPE(IND_CALL) | TYPE(FAR) },
	{ "returns", PERF_SAMPLE_BRANCH_ANY_RETURN | BOTH_RINGS, TYPE(RET) },
	{ "direct calls", PERF_SAMPLE_BRANCH_CALL | BOTH_RINGS, TYPE(REL_CALL) },
	{ "indirect calls", PERF_SAMPLE_BRANCH_IND_CALL | BOTH_RINGS, TYPE(IND_CALL) },
	{ "indirect jumps", PERF_SAMPLE_BRANCH_IND_JUMP | BOTH_RINGS, TYPE(IND_JMP) },
	{ "conditions", PERF_SAMPLE_BRANCH_COND | BOTH_RINGS, TYPE(JCC) },
	{ "conditions and returns",
	  PERF_SAMPLE_BRANCH_COND | PERF_SAMPLE_BRANCH_ANY_RETURN | BOTH_RINGS,
	  TYPE(JCC) | TYPE(RET) },
	{ "aborts", PERF_SAMPLE_BRANCH_ABORT_TX | BOTH_RINGS, 0 },
	{ "in a transaction", PERF_SAMPLE_BRANCH_IN_TX | BOTH_RINGS, 0 },
	{ "in no transaction", PERF_SAMPLE_BRANCH_NO_TX | BOTH_RINGS, ALL_TYPES },
};

static void filter_desc(const struct filter *filter, char *desc)
{
	strscpy(desc, filter->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(filter, filters, filter_desc);

static void sample_has_exactly_the_requested_branches(struct kunit *test)
{
	const struct filter *filter = test->param_value;
	struct perf_event *event = open_branches(test, RIG_PULSED, filter->filter);
	const struct rig *rig = test->priv;
	const struct rig_sample *sample = &rig->seen[0];
	u64 left_out = REFPMU_LBR_NOT_KERNEL | REFPMU_LBR_NOT_USER;
	unsigned int left, n = 0;

	if (filter->filter & PERF_SAMPLE_BRANCH_KERNEL)
		left_out &= ~REFPMU_LBR_NOT_KERNEL;
	if (filter->filter & PERF_SAMPLE_BRANCH_USER)
		left_out &= ~REFPMU_LBR_NOT_USER;
	perf_event_enable(event);
	/*
	 * LBR_SELECT filters out the unwanted privilege, so that those branches do not displace
	 * others.
	 */
	KUNIT_EXPECT_EQ(test, rig_reg(REFPMU_REG_LBR_SELECT) &
			      (REFPMU_LBR_NOT_KERNEL | REFPMU_LBR_NOT_USER), left_out);
	preempt_disable(); /* a context switch would clear the branch records */
	generate_all_types();
	rig_pulse(test, RIG_PULSED, 10);
	preempt_enable();
	perf_event_disable(event);

	KUNIT_ASSERT_EQ(test, rig->samples, 1U);
	/* Newest first. */
	for (left = N_BRANCHES; left; left--) {
		enum refpmu_privilege privilege;
		const struct refpmu_branch branch = branch_no(left - 1, &privilege);
		const u64 ring = privilege == REFPMU_USER ? PERF_SAMPLE_BRANCH_USER :
							    PERF_SAMPLE_BRANCH_KERNEL;

		if (!(filter->kinds & BIT(branch.kind)) || !(filter->filter & ring))
			continue;
		KUNIT_EXPECT_EQ(test, (u64)sample->branches[n].from, branch.from);
		KUNIT_EXPECT_EQ(test, (u64)sample->branches[n].to, branch.to);
		KUNIT_EXPECT_EQ(test, (unsigned int)sample->branches[n].cycles, branch.cycles);
		KUNIT_EXPECT_EQ(test, (int)sample->branches[n].predicted, 1);
		n++;
	}
	KUNIT_EXPECT_EQ(test, sample->n_branches, (u64)n);
}

struct refused {
	const char *name;
	u64 filter;
	int err;
};

static const struct refused refusals[] = {
	{ "no kind", BOTH_RINGS, -EINVAL },
	{ "a stack of calls and returns",
	  PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_ANY_RETURN | BOTH_RINGS, -EINVAL },
	{ "what the device does not log", BIT_ULL(19) | PERF_SAMPLE_BRANCH_ANY | BOTH_RINGS,
	  -EOPNOTSUPP },
	{ "an unknown bit", BIT_ULL(40) | PERF_SAMPLE_BRANCH_ANY | BOTH_RINGS, -EOPNOTSUPP },
};

static void refused_desc(const struct refused *refused, char *desc)
{
	strscpy(desc, refused->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(refused, refusals, refused_desc);

static int try_branches(u64 filter)
{
	struct perf_event_attr attr = rig_attr(RIG_PULSED);
	struct perf_event *event;

	attr.sample_period = 10;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = filter;
	event = perf_event_create_kernel_counter(&attr, RIG_CPU, NULL, NULL, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	perf_event_release_kernel(event);
	return 0;
}

static void unsupported_branch_filter_is_rejected(struct kunit *test)
{
	const struct refused *refused = test->param_value;

	KUNIT_EXPECT_EQ(test, try_branches(refused->filter), refused->err);
}

static void device_without_branch_records_rejects_branch_stacks(struct kunit *test)
{
	const u8 depth = rig_device->caps.lbr;
	int err;

	VERIFIES(test, "DRC-035");
	rig_device->caps.lbr = 0;
	err = try_branches(PERF_SAMPLE_BRANCH_ANY | BOTH_RINGS);
	rig_device->caps.lbr = depth;
	KUNIT_EXPECT_EQ(test, err, -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, try_branches(PERF_SAMPLE_BRANCH_ANY | BOTH_RINGS), 0);
}

static void branch_records_end_at_the_overflow(struct kunit *test)
{
	struct perf_event *event =
		open_branches(test, RIG_PULSED, PERF_SAMPLE_BRANCH_ANY | BOTH_RINGS);
	const struct rig *rig = test->priv;
	u64 frozen, after;

	perf_event_enable(event);
	preempt_disable(); /* a context switch would clear the records of the second sample */
	call(USER_CODE + 0x100);
	local_irq_disable();
	rig_tick(RIG_PULSED, 10);
	frozen = rig_reg(REFPMU_REG_GLOBAL_STATUS) & REFPMU_STATUS_LBR_FROZEN;
	/* The handler is late: this branch is in its own code. */
	call(USER_CODE + 0x200);
	refpmu_irq(rig_cpu());
	after = rig_reg(REFPMU_REG_GLOBAL_STATUS);
	local_irq_enable();
	/* After the handler, recording continues. */
	call(USER_CODE + 0x300);
	rig_pulse(test, RIG_PULSED, 10);
	preempt_enable();
	perf_event_disable(event);

	KUNIT_EXPECT_NE(test, frozen, 0ULL);
	KUNIT_EXPECT_EQ(test, after, 0ULL);
	KUNIT_ASSERT_EQ(test, rig->samples, 2U);
	KUNIT_EXPECT_EQ(test, rig->seen[0].n_branches, 1ULL);
	KUNIT_EXPECT_EQ(test, (u64)rig->seen[0].branches[0].to, USER_CODE + 0x100);
	KUNIT_EXPECT_EQ(test, rig->seen[1].n_branches, 2ULL);
	KUNIT_EXPECT_EQ(test, (u64)rig->seen[1].branches[0].to, USER_CODE + 0x300);
	KUNIT_EXPECT_EQ(test, (u64)rig->seen[1].branches[1].to, USER_CODE + 0x100);
}

static void hw_index_is_that_of_the_newest_entry(struct kunit *test)
{
	struct perf_event *event =
		open_branches(test, RIG_PULSED, PERF_SAMPLE_BRANCH_ANY | BOTH_RINGS);
	const struct rig *rig = test->priv;
	u64 tos;

	perf_event_enable(event);
	preempt_disable(); /* a context switch would clear the branch records */
	generate_all_types();
	tos = rig_reg(REFPMU_REG_LBR_TOS);
	rig_pulse(test, RIG_PULSED, 10);
	preempt_enable();
	perf_event_disable(event);
	KUNIT_ASSERT_EQ(test, rig->samples, 1U);
	KUNIT_EXPECT_EQ(test, rig->seen[0].branch_index, tos);
}

static void first_user_finds_no_old_branch_records(struct kunit *test)
{
	struct perf_event *event =
		open_branches(test, RIG_PULSED, PERF_SAMPLE_BRANCH_ANY | BOTH_RINGS);
	const struct rig *rig = test->priv;

	perf_event_enable(event);
	generate_all_types();
	perf_event_disable(event);
	perf_event_enable(event);
	rig_pulse(test, RIG_PULSED, 10);
	perf_event_disable(event);
	KUNIT_ASSERT_EQ(test, rig->samples, 1U);
	KUNIT_EXPECT_EQ(test, rig->seen[0].n_branches, 0ULL);
}

static void branch_recording_ends_with_its_last_user(struct kunit *test)
{
	const u64 filter = PERF_SAMPLE_BRANCH_ANY | BOTH_RINGS;
	struct perf_event *one = open_branches(test, RIG_PULSED, filter);
	struct perf_event *two = open_branches(test, RIG_PULSED_TOO, filter);
	u64 on, still_on, off;
	unsigned int users;

	local_irq_disable();
	rig_add(one, PERF_EF_START);
	rig_add(two, PERF_EF_START);
	users = rig_cpu()->lbr.users;
	on = rig_reg(REFPMU_REG_DEBUGCTL);
	rig_del(one);
	still_on = rig_reg(REFPMU_REG_DEBUGCTL);
	rig_del(two);
	off = rig_reg(REFPMU_REG_DEBUGCTL);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, users, 2U);
	KUNIT_EXPECT_EQ(test, on, REFPMU_DEBUGCTL_LBR | REFPMU_DEBUGCTL_FREEZE_LBRS);
	KUNIT_EXPECT_EQ(test, still_on, on);
	KUNIT_EXPECT_EQ(test, off, 0ULL);
	KUNIT_EXPECT_EQ(test, rig_cpu()->lbr.users, 0U);
}

static void disabled_pmu_records_no_branches(struct kunit *test)
{
	struct perf_event *event =
		open_branches(test, RIG_PULSED, PERF_SAMPLE_BRANCH_ANY | BOTH_RINGS);
	u64 before, after;

	local_irq_disable();
	rig_add(event, PERF_EF_START);
	before = rig_reg(REFPMU_REG_LBR_TOS);
	perf_pmu_disable(event->pmu);
	call(USER_CODE + 0x100);
	perf_pmu_enable(event->pmu);
	after = rig_reg(REFPMU_REG_LBR_TOS);
	rig_del(event);
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, after, before);
}

static void events_with_different_filters_do_not_run_together(struct kunit *test)
{
	const u64 returns = PERF_SAMPLE_BRANCH_ANY_RETURN | BOTH_RINGS;
	struct perf_event *one =
		open_branches(test, RIG_PULSED, PERF_SAMPLE_BRANCH_ANY | BOTH_RINGS);
	struct perf_event *two = open_branches(test, RIG_PULSED, returns);
	int first, second, later;
	u64 select;

	local_irq_disable();
	first = rig_add(one, PERF_EF_START);
	second = rig_add(two, PERF_EF_START);
	rig_del(one);
	later = rig_add(two, PERF_EF_START);
	select = rig_reg(REFPMU_REG_LBR_SELECT);
	rig_del(two);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, first, 0);
	KUNIT_EXPECT_EQ(test, second, -EAGAIN);
	KUNIT_EXPECT_EQ(test, later, 0);
	KUNIT_EXPECT_EQ(test, select, refpmu_config_branch_select(returns));
}

static void sched_task(struct compat_task *task, bool in)
{
	compat_sched_task(&rig_device->pmu, task, in);
}

static void task_finds_no_branch_records_of_the_previous_one(struct kunit *test)
{
	struct perf_event *event =
		open_branches(test, RIG_PULSED, PERF_SAMPLE_BRANCH_ANY | BOTH_RINGS);
	u64 from = 0, to = 0, info = 0;
	unsigned int i;

	VERIFIES(test, "DRC-096", "DRC-097");
	local_irq_disable();
	rig_add(event, PERF_EF_START);
	generate_all_types();
	perf_pmu_disable(event->pmu);
	sched_task(NULL, false);
	sched_task(NULL, true);
	for (i = 0; i < rig_device->params.lbr; i++) {
		from |= rig_reg(REFPMU_REG_LBR_FROM(i));
		to |= rig_reg(REFPMU_REG_LBR_TO(i));
		info |= rig_reg(REFPMU_REG_LBR_INFO(i));
	}
	perf_pmu_enable(event->pmu);
	rig_del(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, from, 0ULL);
	KUNIT_EXPECT_EQ(test, to, 0ULL);
	KUNIT_EXPECT_EQ(test, info, 0ULL);
}

/* Create a task with data of the driver. */
static struct compat_task *new_task(struct kunit *test)
{
	struct compat_task *task = kunit_kzalloc(test, sizeof(*task), GFP_KERNEL);
	void *data;

	KUNIT_ASSERT_NOT_NULL(test, task);
	data = kmem_cache_zalloc(rig_device->pmu.task_ctx_cache, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, data);
	compat_set_task_data(task, &rig_device->pmu, data);
	return task;
}

static void free_task_data(struct compat_task *task)
{
	kmem_cache_free(rig_device->pmu.task_ctx_cache, compat_task_data(task));
}

/* The calls on the device's stack: their number, and the targets of the newest ones. */
struct calls {
	unsigned int n;
	u64 to[2];
};

static struct calls current_calls(void)
{
	struct refpmu_cpu *cpuc = rig_cpu();
	struct calls calls = { .n = 0 };
	unsigned int i;

	refpmu_lbr_read(cpuc);
	calls.n = cpuc->lbr.n;
	for (i = 0; i < calls.n && i < ARRAY_SIZE(calls.to); i++)
		calls.to[i] = cpuc->lbr.raw[i].to;
	return calls;
}

static void expect_calls(struct kunit *test, const struct calls *have, unsigned int n, u64 newest,
			 u64 second)
{
	KUNIT_EXPECT_EQ(test, have->n, n);
	KUNIT_EXPECT_EQ(test, have->to[0], newest);
	KUNIT_EXPECT_EQ(test, have->to[1], second);
}

static struct perf_event *open_calls(struct kunit *test)
{
	return open_branches(test, RIG_PULSED,
			     PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER);
}

static void switch_tasks(struct compat_task *from, struct compat_task *to)
{
	perf_pmu_disable(&rig_device->pmu);
	sched_task(from, false);
	sched_task(to, true);
	perf_pmu_enable(&rig_device->pmu);
}

static void call_stack_is_saved_and_restored_with_its_task(struct kunit *test)
{
	struct compat_task *one = new_task(test), *two = new_task(test);
	struct perf_event *event = open_calls(test);
	struct calls of_two, of_two_then, of_one, after_ret;

	local_irq_disable();
	rig_add(event, PERF_EF_START);
	call(USER_CODE + 0x100);
	call(USER_CODE + 0x200);
	switch_tasks(one, two);
	of_two = current_calls();
	call(USER_CODE + 0x300);
	of_two_then = current_calls();
	switch_tasks(two, one);
	of_one = current_calls();
	ret();
	after_ret = current_calls();
	rig_del(event);
	local_irq_enable();

	expect_calls(test, &of_two, 0, 0, 0);
	expect_calls(test, &of_two_then, 1, USER_CODE + 0x300, 0);
	expect_calls(test, &of_one, 2, USER_CODE + 0x200, USER_CODE + 0x100);
	expect_calls(test, &after_ret, 1, USER_CODE + 0x100, 0);
	free_task_data(one);
	free_task_data(two);
}

/* Saved calls are restored only once: calls that have returned meanwhile must not be restored. */
static void saved_calls_are_restored_only_once(struct kunit *test)
{
	struct compat_task *one = new_task(test);
	struct perf_event *event = open_calls(test);
	struct calls once, twice;

	local_irq_disable();
	rig_add(event, PERF_EF_START);
	call(USER_CODE + 0x100);
	switch_tasks(one, one);
	once = current_calls();
	perf_pmu_disable(event->pmu);
	/* sched_in twice without a sched_out: the task's events were disabled in between. */
	sched_task(one, true);
	perf_pmu_enable(event->pmu);
	twice = current_calls();
	rig_del(event);
	local_irq_enable();

	expect_calls(test, &once, 1, USER_CODE + 0x100, 0);
	expect_calls(test, &twice, 0, 0, 0);
	free_task_data(one);
}

static void records_outside_call_stack_mode_are_not_restored(struct kunit *test)
{
	struct compat_task *one = new_task(test);
	struct perf_event *event =
		open_branches(test, RIG_PULSED, PERF_SAMPLE_BRANCH_ANY | BOTH_RINGS);
	struct calls calls;

	local_irq_disable();
	rig_add(event, PERF_EF_START);
	call(USER_CODE + 0x100);
	switch_tasks(one, one);
	calls = current_calls();
	rig_del(event);
	local_irq_enable();

	expect_calls(test, &calls, 0, 0, 0);
	free_task_data(one);
}

static void call_stack_follows_its_task_when_contexts_are_swapped(struct kunit *test)
{
	struct compat_task *one = new_task(test), *two = new_task(test);
	void *data_of_one = compat_task_data(one), *data_of_two = compat_task_data(two);
	struct perf_event *event = open_calls(test);
	struct calls of_one;
	bool swapped;

	VERIFIES(test, "DRC-097", "DRV-025");
	local_irq_disable();
	rig_add(event, PERF_EF_START);
	call(USER_CODE + 0x100);
	switch_tasks(one, two);
	/* From here on @two is the context of the first task. */
	swapped = compat_swap_tasks(&rig_device->pmu, one, two);
	switch_tasks(one, two);
	of_one = current_calls();
	rig_del(event);
	local_irq_enable();

	if (swapped) {
		KUNIT_EXPECT_PTR_EQ(test, compat_task_data(one), data_of_two);
		KUNIT_EXPECT_PTR_EQ(test, compat_task_data(two), data_of_one);
		expect_calls(test, &of_one, 1, USER_CODE + 0x100, 0);
	} else {
		kunit_mark_skipped(test, "perf has the data in the task, and does not swap it");
	}
	free_task_data(one);
	free_task_data(two);
}

/* Return how many events have requested sched_task of perf on RIG_CPU and not given it back. */
static int requested_sched_task(void)
{
	return compat_cpu_context(&rig_device->pmu, RIG_CPU)->sched_cb_usage;
}

static const struct sort {
	const char *name;
	u64 branches; /* branch_sample_type */
	unsigned int precise;
	int requests;
} sorts[] = {
	{ "imprecise, no branches", 0, 0, 0 },
	{ "branches", PERF_SAMPLE_BRANCH_ANY | BOTH_RINGS, 0, 1 },
	{ "call stack", PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER, 0, 1 },
	{ "precise", 0, 2, 1 },
	{ "precise, with branches", PERF_SAMPLE_BRANCH_ANY | BOTH_RINGS, 2, 1 },
};

static void sort_desc(const struct sort *sort, char *desc)
{
	strscpy(desc, sort->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(sort, sorts, sort_desc);

static struct perf_event *open_sort(struct kunit *test, const struct sort *sort)
{
	struct perf_event_attr attr = rig_attr(RIG_PULSED);

	attr.sample_period = 10;
	attr.sample_type = sort->branches ? PERF_SAMPLE_BRANCH_STACK : 0;
	attr.branch_sample_type = sort->branches;
	attr.precise_ip = sort->precise;
	return rig_open(test, &attr);
}

static void close_last(struct rig *rig)
{
	perf_event_release_kernel(rig->events[--rig->n_events]);
}

/* perf calls sched_task at each context switch while one request remains. */
static void sched_task_is_requested_only_while_an_event_needs_it(struct kunit *test)
{
	const struct sort *sort = test->param_value;
	struct perf_event *one = open_sort(test, sort), *two = open_sort(test, sort);
	int added, stopped, started, deleted;

	VERIFIES(test, "DRC-040", "DRC-096");
	/* perf calls sched_task only while an event with this flag exists. */
	KUNIT_EXPECT_EQ(test, !!(one->attach_state & PERF_ATTACH_SCHED_CB), sort->requests);
	KUNIT_EXPECT_EQ(test, !!(one->attach_state & PERF_ATTACH_TASK_DATA),
			!!(sort->branches & PERF_SAMPLE_BRANCH_CALL_STACK));
	KUNIT_EXPECT_EQ(test, requested_sched_task(), 0);
	perf_event_enable(one);
	KUNIT_EXPECT_EQ(test, requested_sched_task(), sort->requests);
	perf_event_enable(two);
	KUNIT_EXPECT_EQ(test, requested_sched_task(), 2 * sort->requests);
	perf_event_disable(one);
	KUNIT_EXPECT_EQ(test, requested_sched_task(), sort->requests);
	perf_event_enable(one);
	KUNIT_EXPECT_EQ(test, requested_sched_task(), 2 * sort->requests);
	perf_event_disable(one);
	/* The other event is closed while it is enabled. */
	close_last(test->priv);
	KUNIT_EXPECT_EQ(test, requested_sched_task(), 0);

	local_irq_disable();
	rig_add(one, 0);
	added = requested_sched_task();
	rig_start(one, PERF_EF_RELOAD);
	rig_stop(one, PERF_EF_UPDATE);
	stopped = requested_sched_task();
	rig_start(one, PERF_EF_RELOAD);
	started = requested_sched_task();
	rig_del(one);
	deleted = requested_sched_task();
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, added, sort->requests);
	KUNIT_EXPECT_EQ(test, stopped, sort->requests);
	KUNIT_EXPECT_EQ(test, started, sort->requests);
	KUNIT_EXPECT_EQ(test, deleted, 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(sample_has_exactly_the_requested_branches, filter_gen_params),
	KUNIT_CASE_PARAM(unsupported_branch_filter_is_rejected, refused_gen_params),
	KUNIT_CASE(device_without_branch_records_rejects_branch_stacks),
	KUNIT_CASE(branch_records_end_at_the_overflow),
	KUNIT_CASE(hw_index_is_that_of_the_newest_entry),
	KUNIT_CASE(first_user_finds_no_old_branch_records),
	KUNIT_CASE(branch_recording_ends_with_its_last_user),
	KUNIT_CASE(disabled_pmu_records_no_branches),
	KUNIT_CASE(events_with_different_filters_do_not_run_together),
	KUNIT_CASE(task_finds_no_branch_records_of_the_previous_one),
	KUNIT_CASE(call_stack_is_saved_and_restored_with_its_task),
	KUNIT_CASE(saved_calls_are_restored_only_once),
	KUNIT_CASE(records_outside_call_stack_mode_are_not_restored),
	KUNIT_CASE(call_stack_follows_its_task_when_contexts_are_swapped),
	KUNIT_CASE_PARAM(sched_task_is_requested_only_while_an_event_needs_it, sort_gen_params),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_lbr",
	.init = rig_init,
	.exit = rig_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
