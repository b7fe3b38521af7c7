// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include <linux/perf_event.h>

#include "device.h"

#define EVENT_GETPPID 0x01

/* Counters of each CPU that have an event. */
static DEFINE_PER_CPU(unsigned long, tutorial_used);

static int tutorial_event_init(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (attr->type != event->pmu->type)
		return -ENOENT;
	if (attr->config != EVENT_GETPPID || attr->config1 || attr->config2)
		return -EINVAL;
#ifdef PERF_ATTR_SIZE_VER8
	if (attr->config3)
		return -EINVAL;
#endif
	if (is_sampling_event(event) || has_branch_stack(event) || attr->precise_ip)
		return -EOPNOTSUPP;
	event->hw.idx = -1;
	return 0;
}

static void tutorial_read(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 prev, now;

	if (hwc->state & PERF_HES_UPTODATE)
		return;
	do {
		prev = local64_read(&hwc->prev_count);
		now = device_read(hwc->idx);
	} while (local64_cmpxchg(&hwc->prev_count, prev, now) != prev);
	local64_add(now - prev, &event->count);
}

static void tutorial_start(struct perf_event *event, int flags)
{
	struct hw_perf_event *hwc = &event->hw;

	if (!(hwc->state & PERF_HES_STOPPED))
		return;
	if (flags & PERF_EF_RELOAD)
		local64_set(&hwc->prev_count, device_read(hwc->idx));
	hwc->state = 0;
	device_enable(hwc->idx, true);
	perf_event_update_userpage(event);
}

static void tutorial_stop(struct perf_event *event, int flags)
{
	struct hw_perf_event *hwc = &event->hw;

	device_enable(hwc->idx, false);
	hwc->state |= PERF_HES_STOPPED;
	if (flags & PERF_EF_UPDATE) {
		tutorial_read(event);
		hwc->state |= PERF_HES_UPTODATE;
	}
	perf_event_update_userpage(event);
}

static int tutorial_add(struct perf_event *event, int flags)
{
	unsigned long *used = this_cpu_ptr(&tutorial_used);
	const int idx = find_first_zero_bit(used, DEVICE_COUNTERS);

	if (idx == DEVICE_COUNTERS)
		return -EAGAIN;
	__set_bit(idx, used);
	event->hw.idx = idx;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		tutorial_start(event, PERF_EF_RELOAD);
	return 0;
}

static void tutorial_del(struct perf_event *event, int flags)
{
	tutorial_stop(event, PERF_EF_UPDATE);
	__clear_bit(event->hw.idx, this_cpu_ptr(&tutorial_used));
	event->hw.idx = -1;
}

PMU_FORMAT_ATTR(event, "config:0-7");
PMU_EVENT_ATTR_STRING(getppid, tutorial_event_getppid, "event=0x01");

static struct attribute *tutorial_format[] = {
	&format_attr_event.attr,
	NULL,
};

static struct attribute *tutorial_events[] = {
	&tutorial_event_getppid.attr.attr,
	NULL,
};

static const struct attribute_group tutorial_format_group = {
	.name = "format",
	.attrs = tutorial_format,
};

static const struct attribute_group tutorial_events_group = {
	.name = "events",
	.attrs = tutorial_events,
};

static const struct attribute_group *tutorial_attr_groups[] = {
	&tutorial_format_group,
	&tutorial_events_group,
	NULL,
};

static struct pmu tutorial_pmu = {
	.module = THIS_MODULE,
	.attr_groups = tutorial_attr_groups,
	.task_ctx_nr = perf_hw_context,
	.capabilities = PERF_PMU_CAP_NO_INTERRUPT | PERF_PMU_CAP_NO_EXCLUDE,
	.event_init = tutorial_event_init,
	.add = tutorial_add,
	.del = tutorial_del,
	.start = tutorial_start,
	.stop = tutorial_stop,
	.read = tutorial_read,
};

static int __init tutorial_init(void)
{
	int err = device_open();

	if (err)
		return err;
	err = perf_pmu_register(&tutorial_pmu, "tutorial", -1);
	if (err)
		device_close();
	return err;
}

static void __exit tutorial_exit(void)
{
	perf_pmu_unregister(&tutorial_pmu);
	device_close();
}

module_init(tutorial_init);
module_exit(tutorial_exit);
MODULE_DESCRIPTION("The tutorial's PMU driver, step 6");
MODULE_LICENSE("GPL");
