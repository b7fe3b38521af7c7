// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connect the driver to the model: intercept RDMSR, WRMSR, RDPMC and CPUID. A kernel that supports
 * Xen guests (paravirt) makes calls instead of these instructions. The hooks are installed before
 * the kernel patches these into direct calls, and before it identifies the processor. They run very
 * early and in any context, so they are not traced, and they pass on all other accesses at once.
 */
#include <linux/init.h>
#include <linux/string.h>

#include "compat/msr.h"
#include "msr.h"

#define PERFMON_VERSION 4
#define PERFMON_EVENTS 7 /* number of architectural events; the model has all of them */
#define CPUID_PERFMON 0xa
#define CPUID_1_ECX_DTES64 BIT(2)
#define CPUID_1_ECX_PDCM BIT(15)
#define CPUID_1_EDX_DS BIT(21)

#define CPUID_EXTENDED 0x80000000
#define CPUID_AMD_FEATURES 0x80000001
#define CPUID_AMD_FEATURES_ECX_CORE BIT(23)
#define CPUID_AMD_PERFMON 0x80000022
#define CPUID_AMD_PERFMON_EAX_V2 BIT(0)

static const struct refpmu_msr_processor processors[] __initconst = {
	{
		.name = "intel",
		.kind = REFPMU_MSR_INTEL,
		.params = { .general = 4, .fixed = 3, .width = 48, .lbr = 32, .records = true },
	},
	{
		.name = "intel_haswell",
		.kind = REFPMU_MSR_INTEL,
		.params = { .general = 4, .fixed = 3, .width = 48, .lbr = 16, .records = true },
	},
	{
		.name = "intel_pebs",
		.kind = REFPMU_MSR_INTEL,
		.params = { .general = 4, .fixed = 3, .width = 48, .lbr = 32, .records = true,
			    .pebs_format = 3 },
	},
	{
		.name = "amd_k7",
		.kind = REFPMU_MSR_AMD_K7,
		.params = { .general = 4, .width = 48 },
	},
	{
		.name = "amd_core",
		.kind = REFPMU_MSR_AMD_CORE,
		.params = { .general = 6, .width = 48 },
	},
	{
		.name = "amd_v2",
		.kind = REFPMU_MSR_AMD_V2,
		.params = { .general = 6, .width = 48 },
	},
};

struct refpmu_msr_processor refpmu_msr_processor;

static struct pv_cpu_ops native; /* the original functions */

bool refpmu_msr_active(void)
{
	return refpmu_msr_processor.kind != REFPMU_MSR_NONE;
}

static bool is_ours(u32 msr, u32 *reg)
{
	return refpmu_msr_find(refpmu_msr_processor.kind, &refpmu_msr_processor.params, msr, reg);
}

/* Warn as the kernel does when the processor rejects an access. */
static void warn_rejected(const char *what, u32 msr, u64 value)
{
	WARN_ONCE(1, "refpmu_msr: %s of %#x (%#llx) does not go\n", what, msr, value);
}

/* Return the bits of @msr that the model does not have, from the processor. */
static u64 processor_value(unsigned int msr, u32 reg)
{
	const u64 processor_bits = refpmu_msr_processor_bits(reg);

	return processor_bits ? native.read_msr(msr) & processor_bits : 0;
}

/* Report in MISC_ENABLE that there is no BTS, and no PEBS unless the model has it. */
static u64 correct_misc_enable(unsigned int msr, u64 value)
{
	const struct refpmu_msr_processor *processor = &refpmu_msr_processor;

	if (msr != MSR_IA32_MISC_ENABLE || processor->kind != REFPMU_MSR_INTEL)
		return value;
	value |= MSR_IA32_MISC_ENABLE_BTS_UNAVAIL | MSR_IA32_MISC_ENABLE_PEBS_UNAVAIL;
	return processor->params.pebs_format ? value & ~MSR_IA32_MISC_ENABLE_PEBS_UNAVAIL : value;
}

u64 refpmu_msr_hook_read(u32 msr)
{
	u64 value = 0;
	u32 reg;

	if (!is_ours(msr, &reg))
		return correct_misc_enable(msr, native.read_msr(msr));
	if (refpmu_msr_read(reg, &value))
		warn_rejected("a read", msr, 0);
	return value | processor_value(msr, reg);
}

int refpmu_msr_hook_read_safe(u32 msr, u64 *value)
{
	u32 reg;
	int err;

	*value = 0;
	if (!is_ours(msr, &reg)) {
		err = refpmu_compat_read_msr_safe(&native, msr, value);
		*value = correct_misc_enable(msr, *value);
		return err;
	}
	err = refpmu_msr_read(reg, value) ? -EIO : 0;
	*value |= processor_value(msr, reg);
	return err;
}

/*
 * Write a register of the model, and those bits that belong to the processor to its own register.
 * Return -EIO if the model rejects a bit.
 */
static int write_both(unsigned int msr, u32 reg, u64 value)
{
	const u64 processor_bits = refpmu_msr_processor_bits(reg);

	if (refpmu_msr_write(reg, value & ~processor_bits))
		return -EIO;
	if (processor_bits)
		refpmu_compat_write_msr(&native, msr, value & processor_bits);
	return 0;
}

void refpmu_msr_hook_write(u32 msr, u64 value)
{
	u32 reg;

	if (!is_ours(msr, &reg))
		refpmu_compat_write_msr(&native, msr, value);
	else if (write_both(msr, reg, value))
		warn_rejected("a write", msr, value);
}

int refpmu_msr_hook_write_safe(u32 msr, u64 value)
{
	u32 reg;

	if (!is_ours(msr, &reg))
		return refpmu_compat_write_msr_safe(&native, msr, value);
	return write_both(msr, reg, value);
}

static u64 read_pmc(int counter)
{
	u64 value = 0;
	u32 reg;

	if (!refpmu_msr_find_pmc(&refpmu_msr_processor.params, counter, &reg) ||
	    refpmu_msr_read(reg, &value))
		warn_rejected("a read of counter", counter, 0);
	return value;
}

static void cpuid_intel(unsigned int leaf, unsigned int *eax, unsigned int *ebx, unsigned int *ecx,
			unsigned int *edx)
{
	const struct refpmu_model_params *params = &refpmu_msr_processor.params;

	switch (leaf) {
	case 0:
		*eax = max(*eax, CPUID_PERFMON);
		break;
	case 1:
		*ecx |= CPUID_1_ECX_PDCM;
		if (params->pebs_format) {
			*ecx |= CPUID_1_ECX_DTES64;
			*edx |= CPUID_1_EDX_DS;
		}
		break;
	case CPUID_PERFMON:
		*eax = PERFMON_VERSION | params->general << 8 | params->width << 16 |
		       PERFMON_EVENTS << 24;
		*ebx = 0;
		*ecx = 0;
		*edx = params->fixed | params->width << 5;
		break;
	}
}

static void cpuid_amd(unsigned int leaf, unsigned int *eax, unsigned int *ebx, unsigned int *ecx,
		      unsigned int *edx)
{
	const bool v2 = refpmu_msr_processor.kind == REFPMU_MSR_AMD_V2;

	switch (leaf) {
	case CPUID_EXTENDED:
		if (v2)
			*eax = max(*eax, CPUID_AMD_PERFMON);
		break;
	case CPUID_AMD_FEATURES:
		*ecx &= ~CPUID_AMD_FEATURES_ECX_CORE;
		if (refpmu_msr_processor.kind != REFPMU_MSR_AMD_K7)
			*ecx |= CPUID_AMD_FEATURES_ECX_CORE;
		break;
	case CPUID_AMD_PERFMON:
		*eax = v2 ? CPUID_AMD_PERFMON_EAX_V2 : 0;
		*ebx = v2 ? refpmu_msr_processor.params.general : 0;
		*ecx = 0;
		*edx = 0;
		break;
	}
}

static void read_cpuid(unsigned int *eax, unsigned int *ebx, unsigned int *ecx, unsigned int *edx)
{
	const unsigned int leaf = *eax;

	native.cpuid(eax, ebx, ecx, edx);
	if (refpmu_msr_processor.kind == REFPMU_MSR_INTEL)
		cpuid_intel(leaf, eax, ebx, ecx, edx);
	else
		cpuid_amd(leaf, eax, ebx, ecx, edx);
}

static void install(void)
{
	native = pv_ops.cpu;
	refpmu_compat_hook_msrs(&pv_ops.cpu);
	pv_ops.cpu.read_pmc = read_pmc;
	pv_ops.cpu.cpuid = read_cpuid;
}

static int __init choose(char *name)
{
	unsigned int i;

	for (i = 0; name && i < ARRAY_SIZE(processors); i++) {
		if (strcmp(name, processors[i].name))
			continue;
		refpmu_msr_processor = processors[i];
		install();
		return 0;
	}
	pr_err("refpmu_msr: '%s' is no processor that is known\n", name ?: "");
	return -EINVAL;
}
early_param("refpmu_msr", choose);
