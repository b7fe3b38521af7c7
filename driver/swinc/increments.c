// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lets programs generate an event of arm64's own PMU: user space may write PMSWINC_EL0, which
 * increments the counters of software increments. The driver revokes this permission whenever it
 * starts the counters, so this module grants it again right after. It does not change anything else
 * of the driver.
 */
#include <linux/cpuhotplug.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/perf/arm_pmu.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>

#include <asm/sysreg.h>

#define USERENR_SW BIT_ULL(1) /* Kernels define it in different headers. */

static struct arm_pmu *driver;
static void (*driver_start)(struct arm_pmu *pmu);
static irqreturn_t (*driver_handle_irq)(struct arm_pmu *pmu);
static int hotplug_state;

/* Allow or forbid increments by user space on this CPU. Preemption is off. */
static void allow_user_increments(void *yes)
{
	const u64 others = read_sysreg(pmuserenr_el0) & ~USERENR_SW;

	write_sysreg(others | (yes ? USERENR_SW : 0), pmuserenr_el0);
}

static void start(struct arm_pmu *pmu)
{
	driver_start(pmu);
	allow_user_increments(pmu);
}

/* The driver's handler stops and restarts the counters without driver->start. */
static irqreturn_t handle_irq(struct arm_pmu *pmu)
{
	const irqreturn_t result = driver_handle_irq(pmu);

	allow_user_increments(pmu);
	return result;
}

static int online(unsigned int cpu)
{
	allow_user_increments(driver);
	return 0;
}

static int offline(unsigned int cpu)
{
	allow_user_increments(NULL);
	return 0;
}

/* Find the PMU of CPU 0 by opening an event. */
static struct arm_pmu *__init find_arm_pmu(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW,
		.size = sizeof(attr),
		.disabled = true,
		.pinned = true,
	};
	struct perf_event *event = perf_event_create_kernel_counter(&attr, 0, NULL, NULL, NULL);
	struct pmu *pmu;

	if (IS_ERR(event))
		return ERR_CAST(event);
	pmu = event->pmu;
	perf_event_release_kernel(event);
	return to_arm_pmu(pmu);
}

/* Both functions run with preemption off. After a grace period no CPU executes them. */
static void restore_callbacks(void)
{
	WRITE_ONCE(driver->start, driver_start);
	WRITE_ONCE(driver->handle_irq, driver_handle_irq);
	synchronize_rcu();
}

static int __init swinc_init(void)
{
	driver = find_arm_pmu();
	if (IS_ERR(driver))
		return PTR_ERR(driver);
	driver_start = driver->start;
	driver_handle_irq = driver->handle_irq;
	WRITE_ONCE(driver->start, start);
	WRITE_ONCE(driver->handle_irq, handle_irq);
	hotplug_state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perf/refpmu_swinc:online", online,
					  offline);
	if (hotplug_state < 0)
		restore_callbacks();
	return hotplug_state < 0 ? hotplug_state : 0;
}

static void __exit swinc_exit(void)
{
	restore_callbacks();
	cpuhp_remove_state(hotplug_state);
}

module_init(swinc_init);
module_exit(swinc_exit);
MODULE_DESCRIPTION("Software increments for programs");
MODULE_LICENSE("GPL");
