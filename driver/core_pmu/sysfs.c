// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sysfs files of a core PMU, in /sys/bus/event_source/devices/<name>: format, events, caps. All
 * devices share the attribute groups; files of features that a device lacks are hidden.
 * pmu.attr_update is not used, because perf adds those files only after the uevent.
 */
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "core/events.h"
#include "cpu.h"
#include "sysfs.h"

static struct refpmu_device *device_of(struct device *dev)
{
	return to_refpmu(dev_get_drvdata(dev));
}

/*
 * format: the fields of the event select in config, and the value of the extra register in config1
 */
PMU_FORMAT_ATTR(event, "config:0-7");
PMU_FORMAT_ATTR(umask, "config:8-15");
PMU_FORMAT_ATTR(edge, "config:18");
PMU_FORMAT_ATTR(inv, "config:23");
PMU_FORMAT_ATTR(cmask, "config:24-31");
PMU_FORMAT_ATTR(offcore_rsp, "config1:0-63");
PMU_FORMAT_ATTR(ldlat, "config1:0-15");

static struct attribute *format_attrs[] = {
	&format_attr_event.attr,
	&format_attr_umask.attr,
	&format_attr_edge.attr,
	&format_attr_inv.attr,
	&format_attr_cmask.attr,
	&format_attr_offcore_rsp.attr,
	&format_attr_ldlat.attr,
	NULL,
};

static umode_t format_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	if (attr == &format_attr_offcore_rsp.attr || attr == &format_attr_ldlat.attr)
		return device_of(kobj_to_dev(kobj))->caps.records ? attr->mode : 0;
	return attr->mode;
}

static const struct attribute_group format_group = {
	.name = "format",
	.attrs = format_attrs,
	.is_visible = format_visible,
};

/* caps: the features of the device */
static ssize_t pmu_name_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%s\n", device_of(dev)->name);
}
static DEVICE_ATTR_RO(pmu_name);

static ssize_t branches_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%u\n", device_of(dev)->caps.lbr);
}
static DEVICE_ATTR_RO(branches);

static ssize_t max_precise_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%u\n", REFPMU_PRECISE_MAX);
}
static DEVICE_ATTR_RO(max_precise);

static struct attribute *caps_attrs[] = {
	&dev_attr_pmu_name.attr,
	&dev_attr_branches.attr,
	&dev_attr_max_precise.attr,
	NULL,
};

static umode_t caps_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	const struct refpmu_caps *caps = &device_of(kobj_to_dev(kobj))->caps;

	if (attr == &dev_attr_branches.attr)
		return caps->lbr ? attr->mode : 0;
	if (attr == &dev_attr_max_precise.attr)
		return caps->records ? attr->mode : 0;
	return attr->mode;
}

static const struct attribute_group caps_group = {
	.name = "caps",
	.attrs = caps_attrs,
	.is_visible = caps_visible,
};

/* cpus: present only if the core type does not include all CPUs */
static ssize_t cpus_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%*pbl\n", cpumask_pr_args(&device_of(dev)->supported));
}
static DEVICE_ATTR_RO(cpus);

static struct attribute *cpus_attrs[] = {
	&dev_attr_cpus.attr,
	NULL,
};

static umode_t cpus_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	const struct cpumask *supported = &device_of(kobj_to_dev(kobj))->supported;

	return cpumask_equal(supported, cpu_possible_mask) ? 0 : attr->mode;
}

static const struct attribute_group cpus_group = {
	.attrs = cpus_attrs,
	.is_visible = cpus_visible,
};

/* events: created from refpmu_events[] when the module is loaded */
struct event_attr {
	struct device_attribute attr;
	const struct refpmu_event *event;
};

/* Files of an event: the event, its scale and its unit. */
#define ATTRS_PER_EVENT 3

static const struct refpmu_event *event_of(struct device_attribute *attr)
{
	return container_of(attr, struct event_attr, attr)->event;
}

/* The ABI documentation of events/ requires lower-case hexadecimal numbers. */
static ssize_t terms_show(struct device *dev, struct device_attribute *attr, char *page)
{
	const struct refpmu_encoding encoding = event_of(attr)->encoding;
	u64 valid;
	int len;

	len = sysfs_emit(page, "event=0x%02llx,umask=0x%02llx",
			 encoding.config & REFPMU_EVTSEL_EVENT,
			 (encoding.config & REFPMU_EVTSEL_UMASK) >> 8);
	if (encoding.config & REFPMU_EVTSEL_EDGE)
		len += sysfs_emit_at(page, len, ",edge=0x1");
	if (encoding.config & REFPMU_EVTSEL_INV)
		len += sysfs_emit_at(page, len, ",inv=0x1");
	if (encoding.config & REFPMU_EVTSEL_CMASK)
		len += sysfs_emit_at(page, len, ",cmask=0x%x",
				     encoding.config >> REFPMU_EVTSEL_CMASK_SHIFT);
	switch (refpmu_events_extra(encoding.config & REFPMU_EVTSEL_CODE, &valid)) {
	case REFPMU_EXTRA_OFFCORE:
		len += sysfs_emit_at(page, len, ",offcore_rsp=0x%llx", encoding.config1);
		break;
	case REFPMU_EXTRA_LOAD_LATENCY:
		len += sysfs_emit_at(page, len, ",ldlat=0x%llx", encoding.config1);
		break;
	}
	return len + sysfs_emit_at(page, len, "\n");
}

static ssize_t scale_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%s\n", event_of(attr)->scale);
}

static ssize_t unit_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%s\n", event_of(attr)->unit);
}

static umode_t event_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	struct device_attribute *event = container_of(attr, struct device_attribute, attr);
	const struct refpmu_caps *caps = &device_of(kobj_to_dev(kobj))->caps;

	return refpmu_events_counters(event_of(event)->encoding.config, caps) ? attr->mode : 0;
}

static struct attribute_group events_group = {
	.name = "events",
	.is_visible = event_visible,
};

const struct attribute_group *refpmu_attr_groups[] = {
	&format_group,
	&events_group,
	&caps_group,
	&cpus_group,
	NULL,
};

static struct event_attr *event_attrs;

static int add_event_attr(unsigned int *n, const struct refpmu_event *event, const char *suffix,
			  ssize_t (*show)(struct device *dev, struct device_attribute *attr,
					  char *page))
{
	struct event_attr *to = &event_attrs[*n];
	char *name = kasprintf(GFP_KERNEL, "%s%s", event->name, suffix);

	if (!name)
		return -ENOMEM;
	sysfs_attr_init(&to->attr.attr);
	to->attr.attr.name = name;
	to->attr.attr.mode = 0444;
	to->attr.show = show;
	to->event = event;
	events_group.attrs[(*n)++] = &to->attr.attr;
	return 0;
}

static int add_event(unsigned int *n, const struct refpmu_event *event)
{
	int err = add_event_attr(n, event, "", terms_show);

	if (!err && event->scale)
		err = add_event_attr(n, event, ".scale", scale_show) ?:
		      add_event_attr(n, event, ".unit", unit_show);
	return err;
}

int refpmu_sysfs_setup(void)
{
	const unsigned int most = refpmu_events_count * ATTRS_PER_EVENT;
	unsigned int i, n = 0;
	int err = 0;

	event_attrs = kcalloc(most, sizeof(*event_attrs), GFP_KERNEL);
	events_group.attrs = kcalloc(most + 1, sizeof(struct attribute *), GFP_KERNEL);
	if (!event_attrs || !events_group.attrs)
		err = -ENOMEM;
	for (i = 0; !err && i < refpmu_events_count; i++)
		err = add_event(&n, &refpmu_events[i]);
	if (err)
		refpmu_sysfs_teardown();
	return err;
}

void refpmu_sysfs_teardown(void)
{
	struct attribute **attrs = events_group.attrs;

	for (; attrs && *attrs; attrs++)
		kfree((*attrs)->name);
	kfree(events_group.attrs);
	kfree(event_attrs);
	events_group.attrs = NULL;
	event_attrs = NULL;
}
