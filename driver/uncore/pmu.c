// SPDX-License-Identifier: GPL-2.0-only
/* refpmu_uncore, a system-wide PMU: its parameters and its struct pmu. */
#include <linux/module.h>

#include "compat/compat.h"
#include "uncore.h"

static unsigned int general = 4;
module_param_named(uncore_general, general, uint, 0444);
MODULE_PARM_DESC(uncore_general, "counters of refpmu_uncore, 1 to 32");

static unsigned int width = 32;
module_param_named(uncore_width, width, uint, 0444);
MODULE_PARM_DESC(uncore_width, "bits of a counter of refpmu_uncore, 16 to 64");

static bool scope = true;
module_param_named(uncore_scope, scope, bool, 0444);
MODULE_PARM_DESC(uncore_scope, "let the kernel choose the CPU of refpmu_uncore, if it can");

/*
 * There is no pmu_enable and no pmu_disable, and so no transaction: they would stop the device for
 * all users while one context is switched. There is no event_idx, because user space cannot read
 * the counters.
 */
const struct pmu refpmu_uncore_ops = {
	.module = THIS_MODULE,
	.attr_groups = refpmu_uncore_attr_groups,
	/* 0 would be perf_hw_context, which belongs to core PMUs. */
	.task_ctx_nr = perf_invalid_context,
	.capabilities = PERF_PMU_CAP_NO_INTERRUPT | PERF_PMU_CAP_NO_EXCLUDE,
	.event_init = refpmu_uncore_event_init,
	.add = refpmu_uncore_add,
	.del = refpmu_uncore_del,
	.start = refpmu_uncore_start,
	.stop = refpmu_uncore_stop,
	.read = refpmu_uncore_read,
};

static int setup(struct refpmu_uncore *uncore)
{
	int err;

	uncore->params = (struct refpmu_model_params){ .general = general, .width = width };
	raw_spin_lock_init(&uncore->lock);
	err = refpmu_model_reset(&uncore->model, &uncore->params);
	if (err) {
		pr_err("refpmu: uncore_general=%u uncore_width=%u: must be 1 to %u, 16 to 64\n",
		       general, width, REFPMU_MAX_GENERAL);
		return err;
	}
	refpmu_uncore_timer_setup(uncore);
	uncore->pmu = refpmu_uncore_ops;
	uncore->scoped = scope && refpmu_compat_scope(&uncore->pmu);
	return 0;
}

/* perf may call event_init before perf_pmu_register() returns, so the PMU is registered last. */
int refpmu_uncore_register(void)
{
	int err;

	err = setup(&refpmu_uncore);
	if (err)
		return err;
	err = refpmu_uncore_sysfs_setup();
	if (err)
		return err;
	err = refpmu_uncore_port_register();
	if (err)
		goto sysfs;
	err = refpmu_uncore_online(&refpmu_uncore);
	if (!err)
		return 0;

	pr_err("refpmu: perf refused %s: %d\n", REFPMU_UNCORE_NAME, err);
	refpmu_uncore_port_unregister();
sysfs:
	refpmu_uncore_sysfs_teardown();
	return err;
}

/* No event exists, so nothing starts the timer again. */
void refpmu_uncore_unregister(void)
{
	refpmu_uncore_offline(&refpmu_uncore);
	refpmu_uncore_port_unregister();
	refpmu_uncore_sysfs_teardown();
	hrtimer_cancel(&refpmu_uncore.timer);
}
