// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes registers of a device registers of the processor. A modelled device has its registers in
 * memory. This module redirects accesses of model specific registers (MSRs), and reads of counters
 * by RDPMC, to them. The driver under test is not changed.
 *
 * A kernel that can be a guest of Xen makes calls of pv_ops instead of these instructions. When it
 * loads a module, it patches them into direct calls of the functions that pv_ops has at that time.
 * So this module must be loaded before the driver, and stays for ever. The code of the kernel was
 * patched during the boot. A probe redirects only its reads of an MSR that may not exist:
 * perf_msr_probe() makes them for the drivers.
 */
#include <linux/err.h>
#include <linux/io.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <linux/string.h>

#include <asm/cpufeature.h>
#include <asm/processor.h>

#include "compat/msr.h"

/* The place of a register in the device: its low 16 bits select it, and counters follow. */
#define REGISTER_BYTES 8
#define MSRS 0x10000
#define COUNTERS 0x100
#define BYTES ((MSRS + COUNTERS) * REGISTER_BYTES)

#define MAX_RANGES 16
#define MAX_FEATURES 8
#define MAX_TYPES 64

static ulong registers;
module_param(registers, ulong, 0444);
MODULE_PARM_DESC(registers, "address of the device's registers");

static ulong stride;
module_param(stride, ulong, 0444);
MODULE_PARM_DESC(stride, "distance of the registers of two CPUs; 0: all CPUs have the same");

static uint msrs[2 * MAX_RANGES];
static uint msrs_count;
module_param_array(msrs, uint, &msrs_count, 0444);
MODULE_PARM_DESC(msrs, "MSRs of the device: pairs of a first one and a number of them");

static uint counters[2 * MAX_RANGES];
static uint counters_count;
module_param_array(counters, uint, &counters_count, 0444);
MODULE_PARM_DESC(counters, "counters that RDPMC reads: pairs as for msrs");

static char *features[MAX_FEATURES];
static uint features_count;
module_param_array(features, charp, &features_count, 0444);
MODULE_PARM_DESC(features, "features of a processor with the device, as in /proc/cpuinfo");

static char *builtin;
module_param(builtin, charp, 0444);
MODULE_PARM_DESC(builtin, "a PMU of the kernel that the driver under test replaces");

static const struct {
	const char *name;
	unsigned int number;
} known_features[] = {
	{ "aperfmperf", X86_FEATURE_APERFMPERF },   { "dtherm", X86_FEATURE_DTHERM },
	{ "irperf", X86_FEATURE_IRPERF },	    { "perfctr_llc", X86_FEATURE_PERFCTR_LLC },
	{ "perfctr_nb", X86_FEATURE_PERFCTR_NB },   { "ptsc", X86_FEATURE_PTSC },
	{ "topoext", X86_FEATURE_TOPOEXT },
};

static struct pv_cpu_ops native; /* the original functions */
static void __iomem *device;

static bool contains(const uint *ranges, uint n, u32 number)
{
	uint i;

	for (i = 0; i + 1 < n; i += 2) {
		if (number - ranges[i] < ranges[i + 1])
			return true;
	}
	return false;
}

static bool is_ours(u32 msr)
{
	return contains(msrs, msrs_count, msr);
}

static void __iomem *place(u32 msr)
{
	return device + raw_smp_processor_id() * stride + (msr % MSRS) * REGISTER_BYTES;
}

u64 refpmu_msr_hook_read(u32 msr)
{
	return is_ours(msr) ? readq(place(msr)) : native.read_msr(msr);
}

int refpmu_msr_hook_read_safe(u32 msr, u64 *value)
{
	if (!is_ours(msr))
		return refpmu_compat_read_msr_safe(&native, msr, value);
	*value = readq(place(msr));
	return 0;
}

void refpmu_msr_hook_write(u32 msr, u64 value)
{
	if (is_ours(msr))
		writeq(value, place(msr));
	else
		refpmu_compat_write_msr(&native, msr, value);
}

int refpmu_msr_hook_write_safe(u32 msr, u64 value)
{
	if (!is_ours(msr))
		return refpmu_compat_write_msr_safe(&native, msr, value);
	writeq(value, place(msr));
	return 0;
}

static u64 read_counter(int counter)
{
	if (!contains(counters, counters_count, counter))
		return native.read_pmc(counter);
	return readq(device + (MSRS + (u32)counter % COUNTERS) * REGISTER_BYTES);
}

/* The kernel itself reads an MSR that may not exist: return the value of the device. */
static int answer(struct kprobe *probe, struct pt_regs *regs)
{
	const u32 msr = regs_get_kernel_argument(regs, 0);

	if (!is_ours(msr))
		return 0;
	refpmu_compat_answer_read_safe(regs, readq(place(msr)));
	instruction_pointer_set(regs, *(unsigned long *)kernel_stack_pointer(regs));
	regs->sp += sizeof(unsigned long);
	return 1;
}

/* With it, the probe is not optimized, so answer() may change the instruction pointer. */
static void after(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe probe = {
	.pre_handler = answer,
	.post_handler = after,
};

static int __init set_feature(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(known_features); i++) {
		if (strcmp(name, known_features[i].name))
			continue;
		set_cpu_cap(&boot_cpu_data, known_features[i].number);
		return 0;
	}
	pr_err("refpmu_devmsr: unknown feature '%s'\n", name);
	return -EINVAL;
}

static int __init set_features(void)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < features_count; i++)
		err = set_feature(features[i]);
	return err;
}

/* Find a PMU by opening an event of each type, and unregister it. */
static int __init unregister(const char *name)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .disabled = true };
	struct perf_event *event;
	struct pmu *pmu;

	for (attr.type = PERF_TYPE_MAX; attr.type < PERF_TYPE_MAX + MAX_TYPES; attr.type++) {
		event = perf_event_create_kernel_counter(&attr, 0, NULL, NULL, NULL);
		if (IS_ERR(event))
			continue;
		pmu = event->pmu;
		perf_event_release_kernel(event);
		if (strcmp(pmu->name, name))
			continue;
		perf_pmu_unregister(pmu);
		return 0;
	}
	pr_err("refpmu_devmsr: builtin=%s: no such PMU\n", name);
	return -ENODEV;
}

static int __init devmsr_init(void)
{
	int err;

	if (msrs_count % 2 || counters_count % 2 || !registers) {
		pr_err("refpmu_devmsr: registers=%#lx: needs an address, and pairs of numbers\n",
		       registers);
		return -EINVAL;
	}
	device = ioremap(registers, BYTES + (nr_cpu_ids - 1) * stride);
	if (!device)
		return -ENOMEM;
	native = pv_ops.cpu;
	probe.addr = (kprobe_opcode_t *)native.read_msr_safe;
	err = (builtin ? unregister(builtin) : 0) ?: set_features() ?: register_kprobe(&probe);
	if (err) {
		iounmap(device);
		return err;
	}
	refpmu_compat_hook_msrs(&pv_ops.cpu);
	pv_ops.cpu.read_pmc = read_counter;
	return 0;
}

module_init(devmsr_init);
MODULE_DESCRIPTION("Registers of a modelled device as registers of the processor");
MODULE_LICENSE("GPL");
