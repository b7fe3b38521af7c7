// SPDX-License-Identifier: GPL-2.0-only
/* What tools see below /sys/bus/event_source/devices/<name>: format, events, caps. */
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "refpmu.h"

PMU_FORMAT_ATTR(event, "config:0-7");
PMU_FORMAT_ATTR(umask, "config:8-15");

static struct attribute *format_attrs[] = {
	&format_attr_event.attr,
	&format_attr_umask.attr,
	NULL,
};

static const struct attribute_group format_group = {
	.name = "format",
	.attrs = format_attrs,
};

/* Filled from refpmu_events[], the one list of events, when the module is loaded. */
static struct attribute_group events_group = {
	.name = "events",
};

static ssize_t pmu_name_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "refpmu\n");
}
static DEVICE_ATTR_RO(pmu_name);

static struct attribute *caps_attrs[] = {
	&dev_attr_pmu_name.attr,
	NULL,
};

static const struct attribute_group caps_group = {
	.name = "caps",
	.attrs = caps_attrs,
};

const struct attribute_group *refpmu_attr_groups[] = {
	&format_group,
	&events_group,
	&caps_group,
	NULL,
};

static struct perf_pmu_events_attr *events;

static ssize_t name_show(struct device *dev, struct device_attribute *attr, char *page)
{
	const struct perf_pmu_events_attr *event;

	event = container_of(attr, struct perf_pmu_events_attr, attr);
	return sysfs_emit(page, "event=0x%02llx,umask=0x%02llx\n", event->id & 0xff,
			  event->id >> 8);
}

int refpmu_sysfs_setup(void)
{
	struct attribute **attrs;
	unsigned int i;

	events = kcalloc(refpmu_events_count, sizeof(*events), GFP_KERNEL);
	attrs = kcalloc(refpmu_events_count + 1, sizeof(*attrs), GFP_KERNEL);
	if (!events || !attrs) {
		kfree(events);
		kfree(attrs);
		return -ENOMEM;
	}
	for (i = 0; i < refpmu_events_count; i++) {
		sysfs_attr_init(&events[i].attr.attr);
		events[i].attr.attr.name = refpmu_events[i].name;
		events[i].attr.attr.mode = 0444;
		events[i].attr.show = name_show;
		events[i].id = refpmu_events[i].code;
		attrs[i] = &events[i].attr.attr;
	}
	events_group.attrs = attrs;
	return 0;
}

void refpmu_sysfs_teardown(void)
{
	kfree(events_group.attrs);
	kfree(events);
}
