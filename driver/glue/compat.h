/* SPDX-License-Identifier: GPL-2.0-only */
/* Every difference between kernel versions and architectures, found by its features. */
#ifndef REFPMU_COMPAT_H
#define REFPMU_COMPAT_H

#include <linux/perf_event.h>
#include <linux/ptrace.h>

#include "model/record.h"

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

/*
 * Whether events of @pmu may run on a CPU: older kernels ask of each event "does it?" and newer
 * ones of the PMU "is it to be skipped?". The former are those that have the flag above.
 */
bool refpmu_runs_on(struct pmu *pmu, int cpu);

#ifdef PERF_PMU_CAP_HETEROGENEOUS_CPUS
static inline int refpmu_compat_filter(struct perf_event *event)
{
	return refpmu_runs_on(event->pmu, smp_processor_id());
}

#define REFPMU_COMPAT_FILTER .filter_match = refpmu_compat_filter
#else
static inline bool refpmu_compat_filter(struct pmu *pmu, int cpu)
{
	return !refpmu_runs_on(pmu, cpu);
}

#define REFPMU_COMPAT_FILTER .filter = refpmu_compat_filter
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
 * Newer kernels keep the events of a machine-wide PMU on one CPU by themselves, and show which.
 * True if this one does that for @pmu from now on.
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

/*
 * General registers as the device records them: flags, then those of enum refpmu_gpr, which are the
 * first of a processor that has more.
 */
static inline void refpmu_compat_get_gprs(const struct pt_regs *regs, u64 *flags, u64 *gpr)
{
#ifdef CONFIG_X86_64
	const u64 values[] = {
		regs->ax, regs->cx, regs->dx, regs->bx,
		regs->sp, regs->bp, regs->si, regs->di,
		regs->r8, regs->r9, regs->r10, regs->r11,
		regs->r12, regs->r13, regs->r14, regs->r15,
	};

	*flags = regs->flags;
	memcpy(gpr, values, sizeof(values));
#elif defined(CONFIG_ARM64)
	*flags = regs->pstate;
	memcpy(gpr, regs->regs, 16 * sizeof(*gpr));
#else
	*flags = 0;
	memset(gpr, 0, 16 * sizeof(*gpr));
#endif
}

/* Registers of a kernel context of which nothing is known. */
static inline void refpmu_compat_kernel_regs(struct pt_regs *regs)
{
	memset(regs, 0, sizeof(*regs));
#if defined(CONFIG_X86)
	regs->cs = __KERNEL_CS;
	regs->ss = __KERNEL_DS;
#elif defined(CONFIG_ARM64)
	regs->pstate = PSR_MODE_EL1h;
#endif
}

/* @ip is where the event happened; perf tells that by a flag, where it has one. */
static inline void refpmu_compat_set_exact_ip(struct pt_regs *regs, u64 ip)
{
	instruction_pointer_set(regs, ip);
#ifdef CONFIG_X86
	regs->flags |= PERF_EFLAGS_EXACT;
#endif
}

/* General registers and flags as a record has them; its flags are none of perf's. */
static inline void refpmu_compat_set_gprs(struct pt_regs *regs, const struct refpmu_pebs_gprs *from)
{
#if defined(CONFIG_ARM64)
	memcpy(regs->regs, from->gpr, sizeof(from->gpr));
#elif defined(CONFIG_X86)
	regs->flags = from->flags & ~(PERF_EFLAGS_EXACT | PERF_EFLAGS_VM);
	regs->ax = from->gpr[REFPMU_RAX];
	regs->cx = from->gpr[REFPMU_RCX];
	regs->dx = from->gpr[REFPMU_RDX];
	regs->bx = from->gpr[REFPMU_RBX];
	regs->sp = from->gpr[REFPMU_RSP];
	regs->bp = from->gpr[REFPMU_RBP];
	regs->si = from->gpr[REFPMU_RSI];
	regs->di = from->gpr[REFPMU_RDI];
	regs->r8 = from->gpr[REFPMU_R8];
	regs->r9 = from->gpr[REFPMU_R8 + 1];
	regs->r10 = from->gpr[REFPMU_R8 + 2];
	regs->r11 = from->gpr[REFPMU_R8 + 3];
	regs->r12 = from->gpr[REFPMU_R8 + 4];
	regs->r13 = from->gpr[REFPMU_R8 + 5];
	regs->r14 = from->gpr[REFPMU_R8 + 6];
	regs->r15 = from->gpr[REFPMU_R15];
#endif
}

/* Branches of a sample: newer kernels keep the size of it, and counters beside. */
static inline void refpmu_compat_save_branches(struct perf_sample_data *data,
					       struct perf_event *event,
					       struct perf_branch_stack *branches)
{
#if defined(REFPMU_HAVE_BRANCH_COUNTERS)
	perf_sample_save_brstack(data, event, branches, NULL);
#elif defined(REFPMU_HAVE_SAVE_BRANCHES)
	perf_sample_save_brstack(data, event, branches);
#else
	data->br_stack = branches;
	data->sample_flags |= PERF_SAMPLE_BRANCH_STACK;
#endif
}

/* A program on @event may act on each of its overflows. */
static inline bool refpmu_compat_has_program(const struct perf_event *event)
{
#ifdef CONFIG_BPF_SYSCALL
	return READ_ONCE(event->prog);
#else
	return false;
#endif
}

/* Somebody gets a signal for each overflow of @event (O_ASYNC): perf keeps that in the parent. */
static inline bool refpmu_compat_has_signals(const struct perf_event *event)
{
	return READ_ONCE((event->parent ?: event)->fasync);
}

/* What the switch of tasks is about: a part of a context, or all of it, or, then, nothing. */
#ifdef REFPMU_HAVE_PMU_CONTEXT
#define refpmu_compat_context perf_event_pmu_context
#else
#define refpmu_compat_context perf_event_context
#endif

#ifdef REFPMU_HAVE_SCHED_TASK_TASK
#define REFPMU_COMPAT_SCHED_TASK(name)                                    \
	void name(struct refpmu_compat_context *context, struct task_struct *task, \
		  bool sched_in)
#else
#define REFPMU_COMPAT_SCHED_TASK(name) \
	void name(struct refpmu_compat_context *context, bool sched_in)
#endif

/* What a task keeps for the PMU; NULL if it has nothing, or no task is concerned. */
static inline void *refpmu_compat_task_data(const struct refpmu_compat_context *context)
{
	return context ? context->task_ctx_data : NULL;
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
 * Stop the timers that rotate the events of @pmu, which is about to be unregistered: perf frees
 * them armed, as they may be for as long as perf_event_mux_interval_ms says. Nobody arms them
 * again: no event is left, and a module that is going gets no new one.
 */
void refpmu_compat_stop_rotation(struct pmu *pmu);

/*
 * perf_pmu_unregister(), and nothing of perf points to @pmu any more: older kernels keep it in what
 * a task had for its events, however long they are closed.
 */
void refpmu_compat_unregister(struct pmu *pmu);

/*
 * perf_event_disable_inatomic(): disable @event soon, from any context. Kernels that forget to when
 * an AUX area is full (on CPU 0, or always) need it from the driver.
 */
void refpmu_compat_disable(struct perf_event *event);

#endif /* REFPMU_COMPAT_H */
