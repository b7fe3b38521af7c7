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

/* Another event may pause a trace and resume it: kernels that have it say so by a capability. */
#ifdef PERF_PMU_CAP_AUX_PAUSE
#define REFPMU_COMPAT_CAP_AUX_PAUSE PERF_PMU_CAP_AUX_PAUSE
#define REFPMU_COMPAT_EF_PAUSE PERF_EF_PAUSE
#define REFPMU_COMPAT_EF_RESUME PERF_EF_RESUME
static inline bool refpmu_compat_aux_paused(const struct perf_event *event)
{
	return READ_ONCE(event->hw.aux_paused);
}
#else
#define REFPMU_COMPAT_CAP_AUX_PAUSE 0
#define REFPMU_COMPAT_EF_PAUSE 0
#define REFPMU_COMPAT_EF_RESUME 0
static inline bool refpmu_compat_aux_paused(const struct perf_event *event)
{
	return false;
}
#endif

/*
 * Newer kernels keep the events of a machine-wide PMU on one CPU by themselves, and show which. True
 * if this one does that for @pmu from now on.
 */
static inline bool refpmu_compat_scope(struct pmu *pmu)
{
#ifdef PERF_EV_CAP_READ_SCOPE
	pmu->scope = PERF_PMU_SCOPE_SYS_WIDE;
	return true;
#else
	return false;
#endif
}

/* Registers of a user context of which nothing is known. */
static inline void refpmu_compat_user_regs(struct pt_regs *regs)
{
	memset(regs, 0, sizeof(*regs));
#ifdef CONFIG_X86
	regs->cs = __USER_CS;
	regs->ss = __USER_DS;
#endif
}

/* General registers as the device records them: flags, then those of enum refpmu_gpr. */
static inline void refpmu_compat_get_gprs(const struct pt_regs *regs, u64 *flags, u64 *gpr)
{
#ifdef CONFIG_X86_64
	const u64 values[] = {
		regs->ax, regs->cx, regs->dx,  regs->bx,  regs->sp,  regs->bp,  regs->si,  regs->di,
		regs->r8, regs->r9, regs->r10, regs->r11, regs->r12, regs->r13, regs->r14, regs->r15,
	};

	*flags = regs->flags;
	memcpy(gpr, values, sizeof(values));
#else
	*flags = 0;
	memset(gpr, 0, 16 * sizeof(*gpr));
#endif
}

/* Find what perf does not export; once, before the first event. */
int refpmu_compat_setup(void);

/* perf_event_overflow(), wherever it is. */
int refpmu_compat_overflow(struct perf_event *event, struct perf_sample_data *data,
			   struct pt_regs *regs);

/* perf_sample_event_took(): what a sample cost, by which perf limits their rate. NMI safe. */
void refpmu_compat_event_took(u64 nanoseconds);

/* perf_sched_cb_inc() and _dec(): sched_task is called while there are more of the one. */
void refpmu_compat_sched_cb_inc(struct pmu *pmu);
void refpmu_compat_sched_cb_dec(struct pmu *pmu);

/*
 * perf_event_disable_inatomic(): disable @event soon, from any context. Kernels that forget to when
 * an AUX area is full (on CPU 0, or always) need it from the driver.
 */
void refpmu_compat_disable(struct perf_event *event);

#endif /* REFPMU_COMPAT_H */
