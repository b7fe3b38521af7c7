/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The calls that a kernel for Xen makes instead of RDMSR and WRMSR. Newer kernels pass a value as
 * one argument, and return an error rather than store it.
 */
#ifndef REFPMU_COMPAT_MSR_H
#define REFPMU_COMPAT_MSR_H

#include <linux/types.h>

#include <asm/paravirt.h>
#include <asm/ptrace.h>

/* The hooks. They return 0 or -EIO. */
u64 refpmu_msr_hook_read(u32 msr);
int refpmu_msr_hook_read_safe(u32 msr, u64 *value);
void refpmu_msr_hook_write(u32 msr, u64 value);
int refpmu_msr_hook_write_safe(u32 msr, u64 value);

#ifdef REFPMU_HAVE_MSR_VALUES
static inline int refpmu_compat_read_msr_safe(const struct pv_cpu_ops *ops, u32 msr, u64 *value)
{
	return ops->read_msr_safe(msr, value);
}

static inline void refpmu_compat_write_msr(const struct pv_cpu_ops *ops, u32 msr, u64 value)
{
	ops->write_msr(msr, value);
}

static inline int refpmu_compat_write_msr_safe(const struct pv_cpu_ops *ops, u32 msr, u64 value)
{
	return ops->write_msr_safe(msr, value);
}

/* At the entry of the kernel's own read_msr_safe(): set what it returns. */
static inline void refpmu_compat_answer_read_safe(struct pt_regs *regs, u64 value)
{
	*(u64 *)regs_get_kernel_argument(regs, 1) = value;
	regs->ax = 0;
}

/* Make the kernel call the hooks. */
static inline void refpmu_compat_hook_msrs(struct pv_cpu_ops *ops)
{
	ops->read_msr = refpmu_msr_hook_read;
	ops->read_msr_safe = refpmu_msr_hook_read_safe;
	ops->write_msr = refpmu_msr_hook_write;
	ops->write_msr_safe = refpmu_msr_hook_write_safe;
}
#else
static inline int refpmu_compat_read_msr_safe(const struct pv_cpu_ops *ops, u32 msr, u64 *value)
{
	int err;

	*value = ops->read_msr_safe(msr, &err);
	return err;
}

static inline void refpmu_compat_write_msr(const struct pv_cpu_ops *ops, u32 msr, u64 value)
{
	ops->write_msr(msr, lower_32_bits(value), upper_32_bits(value));
}

static inline int refpmu_compat_write_msr_safe(const struct pv_cpu_ops *ops, u32 msr, u64 value)
{
	return ops->write_msr_safe(msr, lower_32_bits(value), upper_32_bits(value));
}

static inline void refpmu_compat_answer_read_safe(struct pt_regs *regs, u64 value)
{
	*(int *)regs_get_kernel_argument(regs, 1) = 0;
	regs->ax = value;
}

static inline u64 refpmu_compat_hook_read(unsigned int msr)
{
	return refpmu_msr_hook_read(msr);
}

static inline u64 refpmu_compat_hook_read_safe(unsigned int msr, int *err)
{
	u64 value = 0;

	*err = refpmu_msr_hook_read_safe(msr, &value);
	return value;
}

static inline void refpmu_compat_hook_write(unsigned int msr, unsigned int low, unsigned int high)
{
	refpmu_msr_hook_write(msr, (u64)high << 32 | low);
}

static inline int refpmu_compat_hook_write_safe(unsigned int msr, unsigned int low,
						unsigned int high)
{
	return refpmu_msr_hook_write_safe(msr, (u64)high << 32 | low);
}

static inline void refpmu_compat_hook_msrs(struct pv_cpu_ops *ops)
{
	ops->read_msr = refpmu_compat_hook_read;
	ops->read_msr_safe = refpmu_compat_hook_read_safe;
	ops->write_msr = refpmu_compat_hook_write;
	ops->write_msr_safe = refpmu_compat_hook_write_safe;
}
#endif

#endif /* REFPMU_COMPAT_MSR_H */
