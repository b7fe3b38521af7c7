/* SPDX-License-Identifier: GPL-2.0-only */
/* Every difference between kernel versions and architectures, found by its features. */
#ifndef REFPMU_COMPAT_H
#define REFPMU_COMPAT_H

#include <linux/perf_event.h>
#include <linux/ptrace.h>

/* attr.config3 came with the eighth size of the attr. */
static inline u64 refpmu_compat_config3(const struct perf_event_attr *attr)
{
#ifdef PERF_ATTR_SIZE_VER8
	return attr->config3;
#else
	return 0;
#endif
}

/*
 * Kernels that have this flag let only one PMU have the hardware context, and remember the first
 * one for ever: without it a module that is loaded again is demoted, with a warning.
 */
#ifdef PERF_PMU_CAP_HETEROGENEOUS_CPUS
#define REFPMU_COMPAT_CAPS PERF_PMU_CAP_HETEROGENEOUS_CPUS
#else
#define REFPMU_COMPAT_CAPS 0
#endif

/* Registers of a user context of which nothing is known. */
static inline void refpmu_compat_user_regs(struct pt_regs *regs)
{
	memset(regs, 0, sizeof(*regs));
#ifdef CONFIG_X86
	regs->cs = __USER_CS;
	regs->ss = __USER_DS;
#endif
}

/* Find what perf does not export; once, before the first event. */
int refpmu_compat_setup(void);

/* perf_event_overflow(), wherever it is. */
int refpmu_compat_overflow(struct perf_event *event, struct perf_sample_data *data,
			   struct pt_regs *regs);

#endif /* REFPMU_COMPAT_H */
