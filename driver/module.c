// SPDX-License-Identifier: GPL-2.0-only
/* Load and unload the module: its parameters, and the order of setup and teardown. */
#include <linux/module.h>

#include "compat/compat.h"
#include "core/period.h"
#include "core_pmu/device.h"
#include "core_pmu/hotplug.h"
#include "core_pmu/hybrid.h"
#include "core_pmu/nmi.h"
#include "core_pmu/sysfs.h"
#include "module.h"
#include "port/habit.h"
#include "port/interrupt.h"
#include "port/work_page.h"
#include "trace/trace.h"
#include "uncore/uncore.h"

static unsigned int general = 4;
module_param(general, uint, 0444);
MODULE_PARM_DESC(general, "general counters, 1 to 32");

static unsigned int fixed = 3;
module_param(fixed, uint, 0444);
MODULE_PARM_DESC(fixed, "fixed counters, 0 to 3");

static unsigned int width = 48;
module_param(width, uint, 0444);
MODULE_PARM_DESC(width, "bits of a counter, 16 to 64");

static ulong min_period = 1;
module_param(min_period, ulong, 0444);
MODULE_PARM_DESC(min_period, "shortest sampling period, at least 1");

static unsigned int lbr = REFPMU_MAX_LBR;
module_param(lbr, uint, 0444);
MODULE_PARM_DESC(lbr, "branch records: 0, 8, 16 or 32");

static bool records = true;
module_param(records, bool, 0444);
MODULE_PARM_DESC(records, "support precise records, load latency and off-core response");

static bool as_cpu;
module_param_named(cpu, as_cpu, bool, 0444);
MODULE_PARM_DESC(cpu, "register as \"cpu\", the PMU that tools use for generic events");

static bool hybrid;
module_param(hybrid, bool, 0444);
MODULE_PARM_DESC(hybrid, "register two core types, refpmu_big and refpmu_little, with fixed parameters");

static bool work;
module_param(work, bool, 0444);
MODULE_PARM_DESC(work, "count what the virtual machine executes, instead of nanoseconds");

static char *pmi;
module_param(pmi, charp, 0444);
MODULE_PARM_DESC(pmi, "the interrupt: nmi or irq_work; default: nmi if the machine has one");

static int check(const char *name, u64 value, u64 min, u64 max)
{
	if (value >= min && value <= max)
		return 0;
	pr_err("refpmu: %s=%llu: must be %llu to %llu\n", name, value, min, max);
	return -EINVAL;
}

static int check_lbr(void)
{
	if (!lbr || lbr == 8 || lbr == 16 || lbr == 32)
		return 0;
	pr_err("refpmu: lbr=%u: must be 0, 8, 16 or 32\n", lbr);
	return -EINVAL;
}

/* hybrid=1 registers two PMUs, but the name "cpu" and PERF_TYPE_RAW can belong to only one. */
static int check_hybrid(void)
{
	if (!hybrid || !as_cpu)
		return 0;
	pr_err("refpmu: hybrid=1 and cpu=1 exclude each other\n");
	return -EINVAL;
}

/* Overflows of work are noticed late, in any context. Only an NMI arrives there. */
static int check_work(void)
{
	if (!work || !pmi || strcmp(pmi, "irq_work"))
		return 0;
	pr_err("refpmu: work=1 and pmi=irq_work exclude each other\n");
	return -EINVAL;
}

static int check_params(void)
{
	return check_hybrid() ?: check_work() ?: check_lbr() ?: refpmu_habits_check(work) ?:
	       check("general", general, 1, REFPMU_MAX_GENERAL) ?:
	       check("fixed", fixed, 0, REFPMU_MAX_FIXED) ?:
	       check("width", width, 16, 64) ?:
	       check("min_period", min_period, 1, refpmu_period_counting(hybrid ? 40 : width));
}

/* Steps of loading, in order, and the function that undoes each step. */

/* Without the parameter pmi, use the NMI if the machine has one. */
static int setup_pmi(void)
{
	int err;

	if (pmi && !strcmp(pmi, "irq_work"))
		return 0;
	if (pmi && strcmp(pmi, "nmi")) {
		pr_err("refpmu: pmi=%s: must be nmi or irq_work\n", pmi);
		return -EINVAL;
	}
	err = refpmu_nmi_setup();
	refpmu_pmi_is_nmi = !err;
	if (err && (pmi || work))
		pr_err("refpmu: %s: no NMI on this machine: %d\n", pmi ? "pmi=nmi" : "work=1",
		       err);
	return pmi || work ? err : 0;
}

static void teardown_pmi(void)
{
	if (refpmu_pmi_is_nmi)
		refpmu_nmi_teardown();
}

static int setup_work(void)
{
	return work ? refpmu_work_map() : 0;
}

static void describe(struct refpmu_device *dev, unsigned int kind)
{
	struct refpmu_model_params *params = &dev->params;

	dev->name = "refpmu";
	*params = (struct refpmu_model_params){
		.general = general,
		.fixed = fixed,
		.width = width,
		.lbr = lbr,
		.records = records,
		.min_period = max_t(u64, min_period, refpmu_habits.misses_below),
	};
	cpumask_copy(&dev->supported, cpu_possible_mask);
	if (hybrid)
		refpmu_hybrid_describe(dev, kind);
	dev->caps = (struct refpmu_caps){
		.general = params->general,
		.fixed = params->fixed,
		.width = params->width,
		.lbr = params->lbr,
		.records = params->records,
		.min_period = min_period,
		.work = work,
	};
}

static void describe_devices(void)
{
	unsigned int kind;

	refpmu_devices_count = hybrid ? REFPMU_MAX_DEVICES : 1;
	for (kind = 0; kind < refpmu_devices_count; kind++)
		describe(&refpmu_devices[kind], kind);
}

static void teardown_devices(unsigned int n)
{
	while (n--)
		refpmu_device_teardown(&refpmu_devices[n]);
}

static int setup_devices(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < refpmu_devices_count; i++) {
		err = refpmu_device_setup(&refpmu_devices[i]);
		if (err) {
			teardown_devices(i);
			return err;
		}
	}
	return 0;
}

static void teardown_all_devices(void)
{
	teardown_devices(refpmu_devices_count);
}

static void unregister_devices(unsigned int n)
{
	while (n--)
		refpmu_device_unregister(&refpmu_devices[n]);
}

static int register_devices(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < refpmu_devices_count; i++) {
		err = refpmu_device_register(&refpmu_devices[i], as_cpu);
		if (err) {
			unregister_devices(i);
			return err;
		}
	}
	return 0;
}

static void unregister_all_devices(void)
{
	unregister_devices(refpmu_devices_count);
}

static const struct {
	int (*setup)(void);
	void (*teardown)(void);
} steps[] = {
	{ setup_work, refpmu_work_unmap },
	{ setup_devices, teardown_all_devices },
	{ refpmu_hotplug_setup, refpmu_hotplug_teardown },
	{ refpmu_sysfs_setup, refpmu_sysfs_teardown },
	{ setup_pmi, teardown_pmi },
	{ register_devices, unregister_all_devices },
	{ refpmu_uncore_register, refpmu_uncore_unregister },
	{ refpmu_trace_register, refpmu_trace_unregister },
};

static void undo(unsigned int n)
{
	while (n--)
		steps[n].teardown();
}

int refpmu_load(void)
{
	int err = check_params() ?: refpmu_compat_setup();
	unsigned int i;

	if (err)
		return err;
	describe_devices();
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		err = steps[i].setup();
		if (err) {
			undo(i);
			return err;
		}
	}
	return 0;
}

void refpmu_unload(void)
{
	undo(ARRAY_SIZE(steps));
}

static int __init refpmu_init(void)
{
	return refpmu_load();
}

static void __exit refpmu_exit(void)
{
	refpmu_unload();
}

module_init(refpmu_init);
module_exit(refpmu_exit);

MODULE_DESCRIPTION("Reference performance monitor on a modelled device");
MODULE_LICENSE("GPL");
