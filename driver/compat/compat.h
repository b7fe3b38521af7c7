/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All differences between kernel versions and architectures; filter.h has one more. Each one is
 * detected by a feature, not by a version number.
 */
#ifndef REFPMU_COMPAT_H
#define REFPMU_COMPAT_H

#include <linux/cpu.h>
#include <linux/hrtimer.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/workqueue.h>

#ifdef CONFIG_X86_LOCAL_APIC
#include <asm/apic.h>
#endif

#include "model/record.h"

/*
 * PERF_ATTR_SIZE_VER8 added config3, and VER9 added config4. Return the bits of both: the driver
 * refuses all of them.
 */
static inline u64 refpmu_compat_config3(const struct perf_event_attr *attr)
{
#ifdef PERF_ATTR_SIZE_VER9
	return attr->config3 | attr->config4;
#elif defined(PERF_ATTR_SIZE_VER8)
	return attr->config3;
#else
	return 0;
#endif
}

/*
 * Kernels with this flag accept only one PMU with perf_hw_context, and remember the first one
 * forever. Without the flag, perf would move a reloaded module to the software context, with a
 * warning.
 */
#ifdef PERF_PMU_CAP_HETEROGENEOUS_CPUS
#define REFPMU_COMPAT_CAPS PERF_PMU_CAP_HETEROGENEOUS_CPUS
#else
#define REFPMU_COMPAT_CAPS 0
#endif

/* Kernels on which another event can pause and resume a trace have this capability flag. */
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
 * Let the kernel keep the events of a system-wide PMU on one CPU and show it in sysfs. Return true
 * if this kernel can do that.
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

/*
 * Call @function on @cpu in a workqueue, and return its result; -ENODEV if @cpu is offline. It
 * stays online meanwhile. May sleep. Some kernels call this work_on_cpu_safe().
 */
static inline long refpmu_compat_call_on_cpu(int cpu, long (*function)(void *), void *arg)
{
	long ret;

	cpus_read_lock();
	ret = cpu_online(cpu) ? work_on_cpu(cpu, function, arg) : -ENODEV;
	cpus_read_unlock();
	return ret;
}

/* Initialize a timer of CLOCK_MONOTONIC. */
static inline void refpmu_compat_timer(struct hrtimer *timer,
				       enum hrtimer_restart (*function)(struct hrtimer *),
				       enum hrtimer_mode mode)
{
#ifdef REFPMU_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = function;
#endif
}

/*
 * Send an NMI to this CPU, if refpmu_nmi_setup() has succeeded. Interrupts off. The NMI arrives at
 * once, or at the end of the NMI that is being handled.
 */
static inline void refpmu_compat_send_nmi(void)
{
#ifdef CONFIG_X86_LOCAL_APIC
	apic->send_IPI(smp_processor_id(), NMI_VECTOR);
#endif
}

/* Set the registers of a user context whose registers are unknown. */
static inline void refpmu_compat_user_regs(struct pt_regs *regs)
{
	memset(regs, 0, sizeof(*regs));
#ifdef CONFIG_X86
	regs->cs = __USER_CS;
	regs->ss = __USER_DS;
#elif defined(CONFIG_PPC64)
	regs->msr = MSR_USER64;
#endif
}

/*
 * Get the general registers as the device records them: the flags, and the registers of enum
 * refpmu_gpr. If the processor has more registers, these are its first ones.
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
#elif defined(CONFIG_RISCV)
	/* a0 to a7 and s2 to s9 */
	*flags = regs->status;
	memcpy(gpr, (const void *)regs + offsetof(struct pt_regs, a0), 16 * sizeof(*gpr));
#elif defined(CONFIG_PPC64)
	/* r3 to r18 */
	*flags = regs->msr;
	memcpy(gpr, regs->gpr + 3, 16 * sizeof(*gpr));
#else
	*flags = 0;
	memset(gpr, 0, 16 * sizeof(*gpr));
#endif
}

/* Set the registers of a kernel context whose registers are unknown. */
static inline void refpmu_compat_kernel_regs(struct pt_regs *regs)
{
	memset(regs, 0, sizeof(*regs));
#if defined(CONFIG_X86)
	regs->cs = __KERNEL_CS;
	regs->ss = __KERNEL_DS;
#elif defined(CONFIG_ARM64)
	regs->pstate = PSR_MODE_EL1h;
#elif defined(CONFIG_RISCV)
	regs->status = SR_PP;
#elif defined(CONFIG_PPC64)
	regs->msr = mfmsr(); /* MSR_KERNEL has the mode of a hypervisor */
#endif
}

/*
 * Set the instruction pointer to @ip, the exact address of the event. On x86, perf has a flag for
 * an exact address.
 */
static inline void refpmu_compat_set_exact_ip(struct pt_regs *regs, u64 ip)
{
	instruction_pointer_set(regs, ip);
#ifdef CONFIG_X86
	regs->flags |= PERF_EFLAGS_EXACT;
#endif
}

/*
 * Set the general registers and flags from a record. The record must not set perf's own flag bits.
 */
static inline void refpmu_compat_set_gprs(struct pt_regs *regs, const struct refpmu_pebs_gprs *from)
{
#if defined(CONFIG_ARM64)
	memcpy(regs->regs, from->gpr, sizeof(from->gpr));
#elif defined(CONFIG_RISCV)
	memcpy((void *)regs + offsetof(struct pt_regs, a0), from->gpr, sizeof(from->gpr));
#elif defined(CONFIG_PPC64)
	memcpy(regs->gpr + 3, from->gpr, sizeof(from->gpr));
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

/* Add branches to a sample. Newer kernels also store the size of the data, and counter values. */
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

/* Return true if a BPF program is attached to @event. It may act on each overflow. */
static inline bool refpmu_compat_has_program(const struct perf_event *event)
{
#ifdef CONFIG_BPF_SYSCALL
	return READ_ONCE(event->prog);
#else
	return false;
#endif
}

/*
 * Return true if a task receives a signal (O_ASYNC) for each overflow of @event. For an inherited
 * event, the parent has that setting.
 */
static inline bool refpmu_compat_has_signals(const struct perf_event *event)
{
	return READ_ONCE((event->parent ?: event)->fasync);
}

/*
 * The context argument of sched_task: the part of the context that belongs to the PMU, or the whole
 * context. It may be NULL.
 */
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

/*
 * The data of a task that a PMU has requested with PERF_ATTACH_TASK_DATA: NULL if the task has none
 * or no task is involved. Kernels either have it in the task or in the task's perf context. In the
 * task, it may be that of another driver, from another cache. Interrupts off.
 * REFPMU_COMPAT_TASK_DATA is for the body of a REFPMU_COMPAT_SCHED_TASK.
 */
#ifdef REFPMU_HAVE_CTX_DATA
static inline void *refpmu_compat_task_data(const struct task_struct *task,
					    const struct kmem_cache *cache)
{
	const struct perf_ctx_data *data;

	data = task ? rcu_dereference_check(task->perf_ctx_data, irqs_disabled()) : NULL;
	return data && data->ctx_cache == cache ? data->data : NULL;
}

#define REFPMU_COMPAT_TASK_DATA(pmu) refpmu_compat_task_data(task, (pmu)->task_ctx_cache)
#else
#define REFPMU_COMPAT_TASK_DATA(pmu) ((void)(pmu), context ? context->task_ctx_data : NULL)
/* Two tasks may exchange their contexts; the callback swap_task_ctx then swaps the data back. */
#define REFPMU_COMPAT_SWAPS_CONTEXTS
#endif

/**
 * refpmu_compat_setup() - Find the perf functions that the kernel does not export.
 *
 * Call this once, before the first event.
 *
 * Return: 0, or the error of register_kprobe().
 */
int refpmu_compat_setup(void);

/* Call perf_event_overflow(). */
int refpmu_compat_overflow(struct perf_event *event, struct perf_sample_data *data,
			   struct pt_regs *regs);

/*
 * Call perf_sample_event_took(): report the cost of a sample, by which perf limits the sample rate.
 * NMI-safe.
 */
void refpmu_compat_event_took(u64 nanoseconds);

/*
 * Call perf_sched_cb_inc() or perf_sched_cb_dec(): perf calls sched_task while more calls of the
 * former were made than of the latter.
 */
void refpmu_compat_sched_cb_inc(struct pmu *pmu);
void refpmu_compat_sched_cb_dec(struct pmu *pmu);

/*
 * Stop the timers that rotate the events of @pmu before it is unregistered. perf frees the timers
 * while they may still be armed, for up to perf_event_mux_interval_ms. Nothing arms them again: no
 * event exists, and a module that is being unloaded gets no new one.
 */
void refpmu_compat_stop_rotation(struct pmu *pmu);

/*
 * Unregister @pmu and remove all pointers of perf to it. Older kernels keep a pointer in the
 * context of a task even after the task's events are closed.
 */
void refpmu_compat_unregister(struct pmu *pmu);

/*
 * Call perf_event_disable_inatomic(): disable @event soon, from any context. Some kernels do not
 * disable an event themselves when its AUX area is full (on CPU 0, or on all CPUs), so the driver
 * must do it.
 */
void refpmu_compat_disable(struct perf_event *event);

#endif /* REFPMU_COMPAT_H */
