// SPDX-License-Identifier: GPL-2.0-only
/* Replace the only core type by two core types while a suite runs. */
#include "core_pmu/device.h"
#include "core_pmu/hotplug.h"
#include "core_pmu/hybrid.h"
#include "kinds.h"

/* Parameters of the only core type, to restore it. */
static struct {
	const char *name;
	struct refpmu_model_params params;
	struct refpmu_caps caps;
	struct cpumask supported;
} one;

static void keep(const struct refpmu_device *dev)
{
	one.name = dev->name;
	one.params = dev->params;
	one.caps = dev->caps;
	cpumask_copy(&one.supported, &dev->supported);
}

static void describe(struct refpmu_device *dev)
{
	static const struct refpmu_device nothing;

	*dev = nothing;
	dev->name = one.name;
	dev->params = one.params;
	dev->caps = one.caps;
	cpumask_copy(&dev->supported, &one.supported);
}

static void describe_kind(struct refpmu_device *dev, unsigned int kind)
{
	const struct refpmu_model_params *params = &dev->params;

	describe(dev);
	refpmu_hybrid_describe(dev, kind);
	dev->caps.general = params->general;
	dev->caps.fixed = params->fixed;
	dev->caps.width = params->width;
	dev->caps.lbr = params->lbr;
	dev->caps.records = params->records;
}

static void take_pmus(unsigned int n)
{
	while (n--)
		refpmu_device_unregister(&refpmu_devices[n]);
}

static void take_devices(unsigned int n)
{
	while (n--)
		refpmu_device_teardown(&refpmu_devices[n]);
}

/* Set up and register @n devices, as at load. Their parameters are set. */
static int bring(unsigned int n)
{
	unsigned int devices = 0, pmus = 0;
	int err = 0;

	refpmu_devices_count = n;
	while (!err && devices < n)
		err = refpmu_device_setup(&refpmu_devices[devices++]);
	if (err) {
		devices--;
		goto undo;
	}
	err = refpmu_hotplug_setup();
	if (err)
		goto undo;
	while (!err && pmus < n)
		err = refpmu_device_register(&refpmu_devices[pmus++], false);
	if (!err)
		return 0;
	take_pmus(pmus - 1);
	refpmu_hotplug_teardown();
undo:
	take_devices(devices);
	return err;
}

static void take(void)
{
	take_pmus(refpmu_devices_count);
	refpmu_hotplug_teardown();
	take_devices(refpmu_devices_count);
}

static void bring_one(void)
{
	describe(&refpmu_devices[0]);
	WARN_ON(bring(1));
}

int kinds_begin(struct kunit_suite *suite)
{
	int err;

	keep(&refpmu_devices[0]);
	take();
	describe_kind(kinds_big, 0);
	describe_kind(kinds_little, 1);
	err = bring(2);
	if (err)
		bring_one();
	return err;
}

void kinds_end(struct kunit_suite *suite)
{
	take();
	bring_one();
}
