// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of the callbacks of refpmu_trace: event_init, add, start, stop, pause and resume. */
#include "trace_rig.h"
#include "verifies.h"

#define FOREIGN_TYPE 0x7fff0000

static u64 total_inits(void)
{
	return atomic64_read(&refpmu_trace_totals.inits);
}

static u64 total_destroys(void)
{
	return atomic64_read(&refpmu_trace_totals.destroys);
}

struct refusal {
	const char *name;
	int err;
	bool foreign;
	struct perf_event_attr attr;
};

static const struct refusal refusals[] = {
	{ "a foreign type, whatever else", -ENOENT, true, { .config = 1, .precise_ip = 1 } },
	{ "config", -EINVAL, false, { .config = 1 } },
	{ "config1", -EINVAL, false, { .config1 = BIT_ULL(63) } },
	{ "config2", -EINVAL, false, { .config2 = 1 } },
	{ "config before precise_ip", -EINVAL, false, { .config = 1, .precise_ip = 1 } },
	{ "precise_ip", -EOPNOTSUPP, false, { .precise_ip = 1 } },
	{ "branch records", -EOPNOTSUPP, false,
	  { .sample_type = PERF_SAMPLE_BRANCH_STACK,
	    .branch_sample_type = PERF_SAMPLE_BRANCH_ANY } },
	{ "the idle task excluded", -EOPNOTSUPP, false, { .exclude_idle = 1 } },
	{ "the host excluded", -EOPNOTSUPP, false, { .exclude_host = 1 } },
};

static void refusal_desc(const struct refusal *refusal, char *desc)
{
	strscpy(desc, refusal->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(refusal, refusals, refusal_desc);

static void rejected_event_has_its_errno_and_no_effect(struct kunit *test)
{
	const struct refusal *refusal = test->param_value;
	const struct trace_rig *rig = test->priv;
	struct perf_event_attr attr = refusal->attr;
	const u64 inits = total_inits();
	struct perf_event *event;

	VERIFIES(test, "DRC-035", "DRC-037");
	attr.type = refusal->foreign ? FOREIGN_TYPE : rig->pmu->type;
	event = trace_rig_new_event(test, &attr);
	KUNIT_EXPECT_EQ(test, rig->pmu->event_init(event), refusal->err);
	KUNIT_EXPECT_NULL(test, event->destroy);
	KUNIT_EXPECT_EQ(test, trace_rig_live(), 0ULL);
	KUNIT_EXPECT_EQ(test, total_inits() - inits, refusal->foreign ? 0ULL : 1ULL);
}

static void accepted_event_is_destroyed_once(struct kunit *test)
{
	const struct trace_rig *rig = test->priv;
	struct perf_event_attr attr = trace_rig_attr(rig);
	const u64 destroys = total_destroys();
	struct perf_event *event;

	VERIFIES(test, "DRC-038");
	/* Tools set a period in every event. The PMU ignores it. */
	attr.sample_period = 4000;
	event = trace_rig_new_event(test, &attr);
	KUNIT_ASSERT_EQ(test, rig->pmu->event_init(event), 0);
	KUNIT_EXPECT_EQ(test, trace_rig_live(), 1ULL);
	event->destroy(event);
	KUNIT_EXPECT_EQ(test, trace_rig_live(), 0ULL);
	KUNIT_EXPECT_EQ(test, total_destroys() - destroys, 1ULL);
}

static void event_without_aux_area_is_disabled(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	struct perf_event_attr attr = trace_rig_attr(rig);

	VERIFIES(test, "AUX-013", "DRC-099");
	trace_rig_open(test, &attr);
	perf_event_enable(rig->event);
	KUNIT_EXPECT_TRUE(test, trace_rig_wait_disabled(rig->event));
	KUNIT_EXPECT_EQ(test, trace_rig_reg(rig, REFPMU_REG_DEBUGCTL), 0ULL);
	KUNIT_EXPECT_NULL(test, rig->t->buffer);
}

static void failed_start_leaves_the_event_stopped(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	struct perf_event_attr attr = trace_rig_attr(rig);
	int added, restarted;
	u64 control;

	VERIFIES(test, "DRC-064", "AUX-013");
	trace_rig_open(test, &attr);
	local_irq_disable();
	rig->pmu->add(rig->event, PERF_EF_START);
	added = rig->event->hw.state;
	rig->pmu->start(rig->event, 0);
	restarted = rig->event->hw.state;
	control = trace_rig_reg(rig, REFPMU_REG_DEBUGCTL);
	rig->pmu->del(rig->event, 0);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, added, PERF_HES_STOPPED | PERF_HES_UPTODATE);
	KUNIT_EXPECT_EQ(test, restarted, PERF_HES_STOPPED | PERF_HES_UPTODATE);
	KUNIT_EXPECT_EQ(test, control, 0ULL);
}

/* Calls the callbacks directly, also in orders that perf does not use. */
static void stop_ends_the_transaction(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	u64 on, off, after;
	bool open, closed;
	int err, state;

	VERIFIES(test, "DRC-062", "DRC-100");
	trace_rig_open_mapped(test, 1, false);
	local_irq_disable();
	err = rig->pmu->add(rig->event, PERF_EF_START);
	on = trace_rig_reg(rig, REFPMU_REG_DEBUGCTL);
	open = rig->t->buffer && rig->rb->aux_nest;
	trace_rig_generate_one(rig, REFPMU_KERNEL);
	rig->pmu->stop(rig->event, PERF_EF_UPDATE);
	rig->pmu->stop(rig->event, PERF_EF_UPDATE);
	off = trace_rig_reg(rig, REFPMU_REG_DEBUGCTL);
	closed = !rig->t->buffer && !rig->rb->aux_nest;
	state = rig->event->hw.state;
	trace_rig_generate_one(rig, REFPMU_KERNEL);
	rig->pmu->start(rig->event, 0);
	trace_rig_generate_one(rig, REFPMU_KERNEL);
	rig->pmu->del(rig->event, 0);
	after = trace_rig_reg(rig, REFPMU_REG_DEBUGCTL);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, on, TRACE_RIG_RECORDING | REFPMU_DEBUGCTL_BTINT);
	KUNIT_EXPECT_TRUE(test, open);
	KUNIT_EXPECT_EQ(test, off, 0ULL);
	KUNIT_EXPECT_TRUE(test, closed);
	KUNIT_EXPECT_EQ(test, state, PERF_HES_STOPPED | PERF_HES_UPTODATE);
	KUNIT_EXPECT_EQ(test, after, 0ULL);
	KUNIT_EXPECT_NULL(test, rig->t->event);
	KUNIT_EXPECT_EQ(test, trace_rig_head(rig), 2ULL * TRACE_RIG_RECORD);
	trace_rig_expect_branches(test, 0, 1, 0);
	trace_rig_expect_branches(test, TRACE_RIG_RECORD, 1, 2);
	KUNIT_EXPECT_EQ(test, trace_rig_summary(rig).records, 2U);
}

static void add_without_start_records_nothing(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	int err;
	u64 control;

	trace_rig_open_mapped(test, 1, false);
	local_irq_disable();
	err = rig->pmu->add(rig->event, 0);
	control = trace_rig_reg(rig, REFPMU_REG_DEBUGCTL);
	trace_rig_generate_one(rig, REFPMU_KERNEL);
	rig->pmu->del(rig->event, 0);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, control, 0ULL);
	KUNIT_EXPECT_EQ(test, trace_rig_head(rig), 0ULL);
	KUNIT_EXPECT_EQ(test, trace_rig_summary(rig).records, 0U);
}

static void second_event_cannot_be_added(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	const struct perf_event_attr attr = trace_rig_attr(rig);
	struct perf_event *second = trace_rig_new_event(test, &attr);
	int first, err;

	VERIFIES(test, "DRC-094");
	trace_rig_open_mapped(test, 1, false);
	local_irq_disable();
	first = rig->pmu->add(rig->event, PERF_EF_START);
	err = rig->pmu->add(second, PERF_EF_START);
	trace_rig_generate_one(rig, REFPMU_KERNEL);
	rig->pmu->del(rig->event, 0);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, first, 0);
	KUNIT_EXPECT_EQ(test, err, -EBUSY);
	KUNIT_EXPECT_EQ(test, trace_rig_head(rig), (u64)TRACE_RIG_RECORD);
	KUNIT_EXPECT_TRUE(test, rig->pmu->capabilities & PERF_PMU_CAP_EXCLUSIVE);
}

static void device_accesses_only_its_own_memory(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	void *base, *in, *last, *before, *behind, *astride, *area, *around, *closed;

	trace_rig_open_mapped(test, 1, false);
	local_irq_disable();
	rig->pmu->add(rig->event, PERF_EF_START);
	base = rig->t->buffer->base;
	in = refpmu_trace_memory(rig->t, (uintptr_t)base, PAGE_SIZE);
	last = refpmu_trace_memory(rig->t, (uintptr_t)base + PAGE_SIZE - 8, 8);
	before = refpmu_trace_memory(rig->t, (uintptr_t)base - 8, 8);
	behind = refpmu_trace_memory(rig->t, (uintptr_t)base + PAGE_SIZE, 8);
	astride = refpmu_trace_memory(rig->t, (uintptr_t)base + PAGE_SIZE - 8, 16);
	area = refpmu_trace_memory(rig->t, (uintptr_t)&rig->t->ds, sizeof(rig->t->ds));
	around = refpmu_trace_memory(rig->t, (uintptr_t)&rig->t->ds, ~0ULL);
	rig->pmu->del(rig->event, 0);
	closed = refpmu_trace_memory(rig->t, (uintptr_t)base, 8);
	local_irq_enable();

	KUNIT_EXPECT_PTR_EQ(test, in, base);
	KUNIT_EXPECT_PTR_EQ(test, last, base + PAGE_SIZE - 8);
	KUNIT_EXPECT_NULL(test, before);
	KUNIT_EXPECT_NULL(test, behind);
	KUNIT_EXPECT_NULL(test, astride);
	KUNIT_EXPECT_PTR_EQ(test, area, (void *)&rig->t->ds);
	KUNIT_EXPECT_NULL(test, around);
	KUNIT_EXPECT_NULL(test, closed);
}

#ifdef PERF_PMU_CAP_AUX_PAUSE
static void paused_trace_resumes_in_its_transaction(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	u64 paused, resumed;
	bool open;

	VERIFIES(test, "DRC-063", "DRV-027");
	trace_rig_open_mapped(test, 1, false);
	local_irq_disable();
	rig->pmu->add(rig->event, PERF_EF_START);
	trace_rig_generate_one(rig, REFPMU_KERNEL);
	rig->event->hw.aux_paused = 1;
	rig->pmu->stop(rig->event, PERF_EF_PAUSE);
	paused = trace_rig_reg(rig, REFPMU_REG_DEBUGCTL);
	open = rig->t->buffer;
	trace_rig_generate_one(rig, REFPMU_KERNEL);
	rig->event->hw.aux_paused = 0;
	rig->pmu->start(rig->event, PERF_EF_RESUME);
	resumed = trace_rig_reg(rig, REFPMU_REG_DEBUGCTL);
	trace_rig_generate_one(rig, REFPMU_KERNEL);
	rig->pmu->del(rig->event, 0);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, paused, 0ULL);
	KUNIT_EXPECT_TRUE(test, open);
	KUNIT_EXPECT_EQ(test, resumed, TRACE_RIG_RECORDING | REFPMU_DEBUGCTL_BTINT);
	KUNIT_EXPECT_EQ(test, trace_rig_head(rig), 2ULL * TRACE_RIG_RECORD);
	trace_rig_expect_branches(test, 0, 1, 0);
	trace_rig_expect_branches(test, TRACE_RIG_RECORD, 1, 2);
	KUNIT_EXPECT_EQ(test, trace_rig_summary(rig).records, 1U);
}

/* Another event may pause and resume the trace at any time, also between a stop and a start. */
static void resume_does_not_start_a_stopped_event(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	u64 resumed, paused;
	int state;

	VERIFIES(test, "DRC-063", "DRV-027");
	trace_rig_open_mapped(test, 1, false);
	local_irq_disable();
	rig->pmu->add(rig->event, PERF_EF_START);
	rig->pmu->stop(rig->event, PERF_EF_UPDATE);
	rig->event->hw.aux_paused = 0;
	rig->pmu->start(rig->event, PERF_EF_RESUME);
	resumed = trace_rig_reg(rig, REFPMU_REG_DEBUGCTL);
	state = rig->event->hw.state;
	/* A start does not start a paused event. */
	rig->event->hw.aux_paused = 1;
	rig->pmu->stop(rig->event, PERF_EF_PAUSE);
	rig->pmu->start(rig->event, 0);
	paused = trace_rig_reg(rig, REFPMU_REG_DEBUGCTL);
	trace_rig_generate_one(rig, REFPMU_KERNEL);
	rig->pmu->del(rig->event, 0);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, resumed, 0ULL);
	KUNIT_EXPECT_EQ(test, state, PERF_HES_STOPPED | PERF_HES_UPTODATE);
	KUNIT_EXPECT_EQ(test, paused, 0ULL);
	KUNIT_EXPECT_EQ(test, trace_rig_head(rig), 0ULL);
}
#else
static void paused_trace_resumes_in_its_transaction(struct kunit *test)
{
	kunit_skip(test, "this kernel pauses no trace");
}

static void resume_does_not_start_a_stopped_event(struct kunit *test)
{
	kunit_skip(test, "this kernel pauses no trace");
}
#endif

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(rejected_event_has_its_errno_and_no_effect, refusal_gen_params),
	KUNIT_CASE(accepted_event_is_destroyed_once),
	KUNIT_CASE(event_without_aux_area_is_disabled),
	KUNIT_CASE(failed_start_leaves_the_event_stopped),
	KUNIT_CASE(stop_ends_the_transaction),
	KUNIT_CASE(add_without_start_records_nothing),
	KUNIT_CASE(second_event_cannot_be_added),
	KUNIT_CASE(device_accesses_only_its_own_memory),
	KUNIT_CASE(paused_trace_resumes_in_its_transaction),
	KUNIT_CASE(resume_does_not_start_a_stopped_event),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_trace",
	.init = trace_rig_init,
	.exit = trace_rig_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
