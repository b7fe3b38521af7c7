// SPDX-License-Identifier: GPL-2.0-only
/* The sysfs files of refpmu_uncore: events with scale and unit, format, identifier. */
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "uncore.h"

#define ALL_COUNTERS (~0ULL)

#define EVENT(_name, _code, _counters) \
	{ .name = (_name), .code = (_code), .counters = (_counters) }

/* An event that counts lines of 64 bytes. Tools print MiB: the scale is 64 / 2^20. */
#define EVENT_LINES(_name, _code) \
	{ \
		.name = (_name), \
		.code = (_code), \
		.counters = ALL_COUNTERS, \
		.scale = "6.103515625e-5", \
		.unit = "MiB", \
		.scale_name = _name ".scale", \
		.unit_name = _name ".unit", \
	}

/* The model has no built-in meaning for these codes. Only the stimulus port generates them. */
const struct refpmu_uncore_event refpmu_uncore_events[] = {
	EVENT("requests", 0x0101, ALL_COUNTERS),
	EVENT("retries", 0x0201, ALL_COUNTERS),
	EVENT_LINES("data_reads", 0x0104),
	EVENT_LINES("data_writes", 0x0204),
	EVENT("prefetches", 0x0108, 0x3), /* counters 0 and 1 */
};

const unsigned int refpmu_uncore_events_count = ARRAY_SIZE(refpmu_uncore_events);

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

/* Created from refpmu_uncore_events[] when the module is loaded. */
static struct attribute_group events_group = {
	.name = "events",
};

/* Tools select the event list of this device by its identifier. */
static ssize_t identifier_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "refpmu-uncore-1\n");
}
static DEVICE_ATTR_RO(identifier);

static struct attribute *identity_attrs[] = {
	&dev_attr_identifier.attr,
	NULL,
};

static const struct attribute_group identity_group = {
	.attrs = identity_attrs,
};

const struct attribute_group *refpmu_uncore_attr_groups[] = {
	&format_group,
	&events_group,
	&identity_group,
	&refpmu_uncore_cpumask_group,
	NULL,
};

static struct perf_pmu_events_attr *files;

static ssize_t terms_show(struct device *dev, struct device_attribute *attr, char *page)
{
	const struct perf_pmu_events_attr *file;

	file = container_of(attr, struct perf_pmu_events_attr, attr);
	return sysfs_emit(page, "event=0x%02llx,umask=0x%02llx\n", file->id & 0xff, file->id >> 8);
}

static ssize_t text_show(struct device *dev, struct device_attribute *attr, char *page)
{
	const struct perf_pmu_events_attr *file;

	file = container_of(attr, struct perf_pmu_events_attr, attr);
	return sysfs_emit(page, "%s\n", file->event_str);
}

static struct attribute *describe(struct perf_pmu_events_attr *file, const char *name,
				  const char *text, u16 code)
{
	sysfs_attr_init(&file->attr.attr);
	file->attr.attr.name = name;
	file->attr.attr.mode = 0444;
	file->attr.show = text ? text_show : terms_show;
	file->event_str = text;
	file->id = code;
	return &file->attr.attr;
}

int refpmu_uncore_sysfs_setup(void)
{
	const unsigned int most = 3 * refpmu_uncore_events_count;
	struct attribute **attrs;
	unsigned int i, n = 0;

	files = kcalloc(most, sizeof(*files), GFP_KERNEL);
	attrs = kcalloc(most + 1, sizeof(*attrs), GFP_KERNEL);
	if (!files || !attrs) {
		kfree(files);
		kfree(attrs);
		return -ENOMEM;
	}
	for (i = 0; i < refpmu_uncore_events_count; i++) {
		const struct refpmu_uncore_event *event = &refpmu_uncore_events[i];

		attrs[n] = describe(&files[n], event->name, NULL, event->code);
		n++;
		if (!event->unit)
			continue;
		attrs[n] = describe(&files[n], event->scale_name, event->scale, event->code);
		n++;
		attrs[n] = describe(&files[n], event->unit_name, event->unit, event->code);
		n++;
	}
	events_group.attrs = attrs;
	return 0;
}

void refpmu_uncore_sysfs_teardown(void)
{
	kfree(events_group.attrs);
	kfree(files);
}
