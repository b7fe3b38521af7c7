// SPDX-License-Identifier: GPL-2.0-only
/*
 * Access to perf functions that are not exported to modules, and a way to unregister a PMU such
 * that the module can be unloaded afterwards.
 */
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "compat.h"

#ifdef MODULE

#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>

static int (*overflow)(struct perf_event *event, struct perf_sample_data *data,
		       struct pt_regs *regs);
static void (*event_took)(u64 nanoseconds);
static void (*sched_cb_inc)(struct pmu *pmu);
static void (*sched_cb_dec)(struct pmu *pmu);
static void (*disable_inatomic)(struct perf_event *event);

static const struct {
	const char *name;
	void *function; /* address of a function pointer */
} hidden[] = {
	{ "perf_event_overflow", &overflow },
	{ "perf_sample_event_took", &event_took },
	{ "perf_sched_cb_inc", &sched_cb_inc },
	{ "perf_sched_cb_dec", &sched_cb_dec },
	{ "perf_event_disable_inatomic", &disable_inatomic },
};

/*
 * The address to call for a function with a kprobe at @addr. The kprobe may be behind the beginning
 * of the function: a landing pad for indirect branches or the code that sets up the register for
 * data. An indirect call must go to the beginning. The kernel prints the offset: "name+0x4/0x1a0".
 */
static unsigned long function_entry(unsigned long addr)
{
	char text[KSYM_SYMBOL_LEN];
	unsigned long distance;
	const char *plus;

	sprint_symbol(text, addr);
	plus = strrchr(text, '+');
	if (plus && sscanf(plus, "+0x%lx/", &distance) == 1)
		return addr - distance;
	return addr;
}

static int find(const char *name, unsigned long *function)
{
	struct kprobe probe = { .symbol_name = name };
	int err = register_kprobe(&probe);

#if defined(CONFIG_RISCV) && defined(CONFIG_DYNAMIC_FTRACE)
	/* ftrace patches the first instruction, which then can have no kprobe. */
	if (err == -EINVAL) {
		probe = (struct kprobe){ .symbol_name = name, .offset = MCOUNT_INSN_SIZE };
		err = register_kprobe(&probe);
	}
#endif
	if (err < 0) {
		pr_err("refpmu: no way to %s: %d\n", name, err);
		return err;
	}
	*function = function_entry((unsigned long)probe.addr);
	unregister_kprobe(&probe);
	return 0;
}

int refpmu_compat_setup(void)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(hidden) && !err; i++)
		err = find(hidden[i].name, hidden[i].function);
	return err;
}

int refpmu_compat_overflow(struct perf_event *event, struct perf_sample_data *data,
			   struct pt_regs *regs)
{
	return overflow(event, data, regs);
}

void refpmu_compat_event_took(u64 nanoseconds)
{
	event_took(nanoseconds);
}

void refpmu_compat_sched_cb_inc(struct pmu *pmu)
{
	sched_cb_inc(pmu);
}

void refpmu_compat_sched_cb_dec(struct pmu *pmu)
{
	sched_cb_dec(pmu);
}

void refpmu_compat_disable(struct perf_event *event)
{
	disable_inatomic(event);
}

#else /* linked into the kernel image */

int refpmu_compat_setup(void)
{
	return 0;
}

int refpmu_compat_overflow(struct perf_event *event, struct perf_sample_data *data,
			   struct pt_regs *regs)
{
	return perf_event_overflow(event, data, regs);
}

void refpmu_compat_event_took(u64 nanoseconds)
{
	perf_sample_event_took(nanoseconds);
}

void refpmu_compat_sched_cb_inc(struct pmu *pmu)
{
	perf_sched_cb_inc(pmu);
}

void refpmu_compat_sched_cb_dec(struct pmu *pmu)
{
	perf_sched_cb_dec(pmu);
}

void refpmu_compat_disable(struct perf_event *event)
{
	perf_event_disable_inatomic(event);
}

#endif

#ifdef REFPMU_HAVE_PMU_CONTEXT

static struct perf_cpu_pmu_context *cpu_context(struct pmu *pmu, unsigned int cpu)
{
#ifdef REFPMU_HAVE_CPU_CONTEXT_POINTERS
	return *per_cpu_ptr(pmu->cpu_pmu_context, cpu);
#else
	return per_cpu_ptr(pmu->cpu_pmu_context, cpu);
#endif
}

void refpmu_compat_stop_rotation(struct pmu *pmu)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		if (cpu_context(pmu, cpu))
			hrtimer_cancel(&cpu_context(pmu, cpu)->hrtimer);
	}
}

void refpmu_compat_unregister(struct pmu *pmu)
{
	refpmu_compat_stop_rotation(pmu);
	perf_pmu_unregister(pmu);
}

#else

/*
 * On these kernels a task keeps its perf context after its last event is closed, and the context
 * points to the PMU of the first event. The next context switch of the task dereferences that
 * pointer.
 */

#define TOMBSTONE ((struct task_struct *)-1L) /* perf's marker for a context without a task */

static void put_context(struct perf_event_context *ctx, struct pmu *pmu)
{
	while (ctx && refcount_dec_and_test(&ctx->refcount)) {
		struct perf_event_context *parent = ctx->parent_ctx;

		if (ctx->task_ctx_data)
			kmem_cache_free(pmu->task_ctx_cache, ctx->task_ctx_data);
		kfree_rcu(ctx, rcu_head);
		ctx = parent;
	}
}

/*
 * PMUs with the same task_ctx_nr share the per-CPU contexts. The first one that was registered owns
 * them.
 */
static struct pmu *context_owner(const struct pmu *pmu)
{
	return raw_cpu_ptr(pmu->pmu_cpu_context)->ctx.pmu;
}

/*
 * Remove @pmu from a context. If another PMU owns the per-CPU context, the task context points to
 * that PMU from now on. Otherwise no PMU has events there, and the caller must free the context;
 * returns true then.
 */
static bool remove_from_context(struct perf_event_context *ctx, struct pmu *pmu)
{
	struct pmu *new_owner = context_owner(pmu);

	if (new_owner == pmu)
		return ctx->pmu == pmu;
	for (; ctx; ctx = ctx->parent_ctx) {
		if (ctx->pmu == pmu)
			ctx->pmu = new_owner;
	}
	return false;
}

static void remove_from_task(struct task_struct *task, struct pmu *pmu)
{
	struct perf_event_context __rcu **slot =
		(struct perf_event_context __rcu **)&task->perf_event_ctxp[pmu->task_ctx_nr];
	struct perf_event_context *ctx = rcu_dereference(*slot);
	unsigned long flags;
	bool removed = false;

	if (!ctx)
		return;
	raw_spin_lock_irqsave(&ctx->lock, flags);
	/* An exiting task may be freeing its context at the same time. */
	if (ctx == rcu_access_pointer(*slot))
		removed = remove_from_context(ctx, pmu);
	if (removed) {
		RCU_INIT_POINTER(*slot, NULL);
		/* never the last reference: the task is on the task list */
		put_task_struct(ctx->task);
		WRITE_ONCE(ctx->task, TOMBSTONE);
	}
	raw_spin_unlock_irqrestore(&ctx->lock, flags);
	if (removed)
		put_context(ctx, pmu);
}

/*
 * perf never frees these contexts, so each load of the module would leak about a kilobyte. PMUs
 * that shared them are unregistered before their owner.
 */
static void free_cpu_contexts(struct pmu *pmu)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct perf_cpu_context *cpuctx = per_cpu_ptr(pmu->pmu_cpu_context, cpu);

		hrtimer_cancel(&cpuctx->hrtimer);
		if (cpuctx->heap != cpuctx->heap_default)
			kfree(cpuctx->heap);
	}
	free_percpu(pmu->pmu_cpu_context);
}

/* Contexts with another task_ctx_nr are shared with other PMUs, and perf does not free them. */
void refpmu_compat_stop_rotation(struct pmu *pmu)
{
	unsigned int cpu;

	if (pmu->task_ctx_nr != perf_invalid_context)
		return;
	for_each_possible_cpu(cpu)
		hrtimer_cancel(&per_cpu_ptr(pmu->pmu_cpu_context, cpu)->hrtimer);
}

void refpmu_compat_unregister(struct pmu *pmu)
{
	struct task_struct *process, *task;

	perf_pmu_unregister(pmu);
	rcu_read_lock();
	for_each_process_thread(process, task)
		remove_from_task(task, pmu);
	rcu_read_unlock();
	/* Wait for readers of the contexts, and for contexts that kfree_rcu() has yet to free. */
	synchronize_rcu();
	rcu_barrier();
	if (context_owner(pmu) == pmu)
		free_cpu_contexts(pmu);
}

#endif
