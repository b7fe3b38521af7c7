// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of event_init and destroy: accepted and rejected events, and cleanup. */
#include <linux/err.h>

#include "rig.h"

#define FOREIGN_TYPE 0x7fff0000

struct refusal {
	const char *name;
	int err;
	bool foreign;
	struct perf_event_attr attr;
};

static const struct refusal refusals[] = {
	{ "a type that nobody owns", -ENOENT, true, { .config = REFPMU_EVENT_CYCLES } },
	{ "bit 16 of config", -EINVAL, false, { .config = BIT_ULL(16) | RIG_PULSED } },
	{ "bit 63 of config", -EINVAL, false, { .config = BIT_ULL(63) | RIG_PULSED } },
	{ "config1", -EINVAL, false, { .config = RIG_PULSED, .config1 = 1 } },
	{ "config2", -EINVAL, false, { .config = RIG_PULSED, .config2 = BIT_ULL(63) } },
	{ "a code that no counter counts", -EINVAL, false, { .config = 0x00ff } },
	{ "an inversion of nothing", -EINVAL, false,
	  { .config = RIG_PULSED | REFPMU_EVTSEL_INV } },
	{ "a period without end", -EINVAL, false,
	  { .config = RIG_PULSED, .sample_period = BIT_ULL(63) } },
	{ "the idle task excluded", -EOPNOTSUPP, false,
	  { .config = RIG_PULSED, .exclude_idle = 1 } },
	{ "the host excluded", -EOPNOTSUPP, false, { .config = RIG_PULSED, .exclude_host = 1 } },
};

static void refusal_desc(const struct refusal *refusal, char *desc)
{
	strscpy(desc, refusal->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(refusal, refusals, refusal_desc);

/* Create an event as perf passes it to event_init: it is its own leader, and on no list. */
static struct perf_event *new_event(struct kunit *test, const struct perf_event_attr *attr)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, event);
	event->pmu = &rig_device->pmu;
	event->attr = *attr;
	event->group_leader = event;
	INIT_LIST_HEAD(&event->sibling_list);
	event->hw.sample_period = attr->sample_period;
	event->hw.idx = 99;
	return event;
}

static struct perf_event *new_pulsed(struct kunit *test)
{
	const struct perf_event_attr attr = rig_attr(RIG_PULSED);

	return new_event(test, &attr);
}

static struct perf_event_attr refused_attr(const struct refusal *refusal)
{
	struct perf_event_attr attr = refusal->attr;

	attr.type = refusal->foreign ? FOREIGN_TYPE : rig_device->pmu.type;
	attr.size = sizeof(attr);
	return attr;
}

static void rejected_event_has_its_errno_and_no_effect(struct kunit *test)
{
	const struct perf_event_attr attr = refused_attr(test->param_value);
	const struct refusal *refusal = test->param_value;
	struct perf_event *event = new_event(test, &attr);
	const s64 live = atomic64_read(&rig_device->live);

	VERIFIES(test, "DRC-020", "DRC-037", "DRV-013", "INI-003", "INI-026");
	KUNIT_EXPECT_EQ(test, rig_device->pmu.event_init(event), refusal->err);
	KUNIT_EXPECT_PTR_EQ(test, event->destroy, NULL);
	KUNIT_EXPECT_EQ(test, atomic64_read(&rig_device->live), live);
}

static void errno_of_event_init_is_returned_to_the_caller(struct kunit *test)
{
	struct perf_event_attr attr = refused_attr(test->param_value);
	const struct refusal *refusal = test->param_value;
	struct perf_event *event;

	VERIFIES(test, "DRC-016", "INI-026");
	event = perf_event_create_kernel_counter(&attr, RIG_CPU, NULL, NULL, NULL);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(event), refusal->err);
	/* An unexpected event would occupy a counter in all following cases. */
	if (!IS_ERR(event))
		perf_event_release_kernel(event);
}

static void accepted_event_is_initialized_but_has_no_counter(struct kunit *test)
{
	const s64 live = atomic64_read(&rig_device->live);
	struct perf_event *event = new_pulsed(test);

	VERIFIES(test, "DRC-041", "DRC-042");
	KUNIT_ASSERT_EQ(test, rig_device->pmu.event_init(event), 0);
	KUNIT_EXPECT_EQ(test, event->hw.idx, -1);
	KUNIT_EXPECT_NOT_NULL(test, event->destroy);
	KUNIT_EXPECT_EQ(test, atomic64_read(&rig_device->live), live + 1);
	/*
	 * The private period of a counting event is at most half the range, so that it is extended
	 * in time.
	 */
	KUNIT_EXPECT_GT(test, event->hw.sample_period, 0ULL);
	KUNIT_EXPECT_LE(test, event->hw.sample_period,
			1ULL << (rig_device->params.width - 1));
	event->destroy(event);
	KUNIT_EXPECT_EQ(test, atomic64_read(&rig_device->live), live);
}

static void destroy_is_called_once_per_event(struct kunit *test)
{
	const s64 destroys = atomic64_read(&rig_device->destroys);
	const s64 live = atomic64_read(&rig_device->live);
	struct perf_event_attr attr = rig_attr(RIG_PULSED);
	const unsigned int n = 20;
	unsigned int i;

	VERIFIES(test, "DRC-038", "DRV-015");
	for (i = 0; i < n; i++) {
		struct perf_event *event;

		event = perf_event_create_kernel_counter(&attr, RIG_CPU, NULL, NULL, NULL);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
		perf_event_enable(event);
		perf_event_release_kernel(event);
	}
	KUNIT_EXPECT_EQ(test, atomic64_read(&rig_device->destroys), destroys + n);
	KUNIT_EXPECT_EQ(test, atomic64_read(&rig_device->live), live);
}

/*
 * Create a group of @members pulsed events, and one of @extra unless that is NULL. Return the
 * result of event_init for the last one.
 */
static int init_last_of_group(struct kunit *test, unsigned int members, struct pmu *extra)
{
	struct perf_event_context *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	struct perf_event *leader = new_pulsed(test), *event;
	unsigned int i;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	mutex_init(&ctx->mutex);
	err = rig_device->pmu.event_init(leader);
	leader->ctx = ctx;
	leader->state = PERF_EVENT_STATE_INACTIVE;
	mutex_lock(&ctx->mutex);
	if (extra) {
		event = new_pulsed(test);
		event->pmu = extra;
		if (extra->task_ctx_nr == perf_sw_context)
			event->event_caps |= PERF_EV_CAP_SOFTWARE;
		event->state = PERF_EVENT_STATE_INACTIVE;
		list_add_tail(&event->sibling_list, &leader->sibling_list);
	}
	for (i = 1; i < members; i++) {
		event = new_pulsed(test);
		event->group_leader = leader;
		event->state = PERF_EVENT_STATE_INACTIVE;
		err = err ?: rig_device->pmu.event_init(event);
		if (err)
			break;
		list_add_tail(&event->sibling_list, &leader->sibling_list);
	}
	mutex_unlock(&ctx->mutex);

	while (!list_empty(&leader->sibling_list)) {
		event = list_first_entry(&leader->sibling_list, struct perf_event, sibling_list);
		list_del_init(&event->sibling_list);
		if (event->destroy)
			event->destroy(event);
	}
	if (leader->destroy)
		leader->destroy(leader);
	mutex_destroy(&ctx->mutex);
	return err;
}

static void group_as_large_as_the_device_opens(struct kunit *test)
{
	const unsigned int general = rig_device->params.general;

	VERIFIES(test, "DRC-022", "DRC-023", "DRV-014");
	KUNIT_EXPECT_EQ(test, init_last_of_group(test, general, NULL), 0);
}

static void group_larger_than_the_device_is_rejected(struct kunit *test)
{
	const unsigned int general = rig_device->params.general;

	VERIFIES(test, "DRC-023", "DRC-026");
	KUNIT_EXPECT_EQ(test, init_last_of_group(test, general + 1, NULL), -EINVAL);
}

static void software_members_need_no_counter(struct kunit *test)
{
	const unsigned int general = rig_device->params.general;
	struct pmu *software = kunit_kzalloc(test, sizeof(*software), GFP_KERNEL);

	VERIFIES(test, "DRC-025", "INI-022");
	KUNIT_ASSERT_NOT_NULL(test, software);
	software->task_ctx_nr = perf_sw_context;
	KUNIT_EXPECT_EQ(test, init_last_of_group(test, general, software), 0);
	KUNIT_EXPECT_EQ(test, init_last_of_group(test, general + 1, software), -EINVAL);
}

static void hardware_members_of_another_pmu_are_rejected(struct kunit *test)
{
	struct pmu *hardware = kunit_kzalloc(test, sizeof(*hardware), GFP_KERNEL);

	VERIFIES(test, "DRC-024", "DRC-089");
	KUNIT_ASSERT_NOT_NULL(test, hardware);
	hardware->task_ctx_nr = perf_hw_context;
	KUNIT_EXPECT_EQ(test, init_last_of_group(test, 2, hardware), -EINVAL);
}

static void group_validation_changes_no_running_event(struct kunit *test)
{
	const struct refpmu_cpu *cpuc = ((struct rig *)test->priv)->cpuc;
	const s64 live = atomic64_read(&rig_device->live);
	struct perf_event *event = rig_open_pulsed(test);
	u64 used, enabled, running;
	int idx;

	VERIFIES(test, "DRC-027", "INI-023");
	perf_event_enable(event);
	used = cpuc->used;
	idx = event->hw.idx;
	init_last_of_group(test, rig_device->params.general, NULL);
	init_last_of_group(test, rig_device->params.general + 1, NULL);
	KUNIT_EXPECT_EQ(test, cpuc->used, used);
	KUNIT_EXPECT_EQ(test, event->hw.idx, idx);
	KUNIT_EXPECT_EQ(test, atomic64_read(&rig_device->live), live + 1);
	rig_pulse(test, RIG_PULSED, 9);
	KUNIT_EXPECT_EQ(test, perf_event_read_value(event, &enabled, &running), 9ULL);
}

static void member_validation_does_not_change_its_running_leader(struct kunit *test)
{
	struct perf_event *leader = rig_open_pulsed(test);
	struct perf_event *member = new_pulsed(test);
	u64 enabled, running;
	int before, after, err;

	VERIFIES(test, "DRC-027", "INI-023");
	perf_event_enable(leader);
	member->group_leader = leader;
	before = leader->hw.idx;
	mutex_lock(&leader->ctx->mutex);
	err = rig_device->pmu.event_init(member);
	mutex_unlock(&leader->ctx->mutex);
	after = leader->hw.idx;
	leader->hw.idx = before;
	if (member->destroy)
		member->destroy(member);

	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_GE(test, before, 0);
	KUNIT_EXPECT_EQ(test, after, before);
	rig_pulse(test, RIG_PULSED, 9);
	KUNIT_EXPECT_EQ(test, perf_event_read_value(leader, &enabled, &running), 9ULL);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(rejected_event_has_its_errno_and_no_effect, refusal_gen_params),
	KUNIT_CASE_PARAM(errno_of_event_init_is_returned_to_the_caller, refusal_gen_params),
	KUNIT_CASE(accepted_event_is_initialized_but_has_no_counter),
	KUNIT_CASE(destroy_is_called_once_per_event),
	KUNIT_CASE(group_as_large_as_the_device_opens),
	KUNIT_CASE(group_larger_than_the_device_is_rejected),
	KUNIT_CASE(software_members_need_no_counter),
	KUNIT_CASE(hardware_members_of_another_pmu_are_rejected),
	KUNIT_CASE(group_validation_changes_no_running_event),
	KUNIT_CASE(member_validation_does_not_change_its_running_leader),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_init",
	.init = rig_init,
	.exit = rig_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
