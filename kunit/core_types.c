// SPDX-License-Identifier: GPL-2.0-only
/* Replace the only core type by two core types while a suite runs. */
#include "core_pmu/device.h"
#include "core_pmu/hotplug.h"
#include "core_pmu/hybrid.h"
#include "core_types.h"

/* Parameters of the only core type, to restore it. */
static struct {
	const char *name;
	struct refpmu_model_params params;
	struct refpmu_caps caps;
	struct cpumask supported;
} one;

static void save_device(const struct refpmu_device *dev)
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

static void unregister_pmus(unsigned int n)
{
	while (n--)
		refpmu_device_unregister(&refpmu_devices[n]);
}

static void tear_down_devices(unsigned int n)
{
	while (n--)
		refpmu_device_teardown(&refpmu_devices[n]);
}

/* Set up and register @n devices, as at load. Their parameters are set. */
static int set_up(unsigned int n)
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
	unregister_pmus(pmus - 1);
	refpmu_hotplug_teardown();
undo:
	tear_down_devices(devices);
	return err;
}

static void tear_down(void)
{
	unregister_pmus(refpmu_devices_count);
	refpmu_hotplug_teardown();
	tear_down_devices(refpmu_devices_count);
}

static void restore_one(void)
{
	describe(&refpmu_devices[0]);
	WARN_ON(set_up(1));
}

int core_types_set_up(struct kunit_suite *suite)
{
	int err;

	save_device(&refpmu_devices[0]);
	tear_down();
	describe_kind(core_types_big, 0);
	describe_kind(core_types_little, 1);
	err = set_up(2);
	if (err)
		restore_one();
	return err;
}

void core_types_tear_down(struct kunit_suite *suite)
{
	tear_down();
	restore_one();
}
