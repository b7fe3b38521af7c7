/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All differences between kernel versions in the suites, except those in the driver's compat.h.
 * Each one is detected by a feature, not by a version number. pmu_contract includes this file when
 * it is built out of tree, so it needs no header of the driver.
 */
#ifndef REFPMU_KUNIT_COMPAT_H
#define REFPMU_KUNIT_COMPAT_H

#include <linux/perf_event.h>
#include <linux/refcount.h>

/* Return how often @pmu is disabled on this CPU. Preemption off. */
static inline int *compat_disable_count(const struct pmu *pmu)
{
#ifdef REFPMU_HAVE_CPU_CONTEXT_POINTERS
	return &(*this_cpu_ptr(pmu->cpu_pmu_context))->pmu_disable_count;
#else
	return this_cpu_ptr(pmu->pmu_disable_count);
#endif
}

/* The module pmu_contract is built without the macros of these features. */
#ifndef MODULE

/*
 * Return the state that perf has for @pmu on @cpu. Kernels with pointers to it may have none for a
 * CPU that was never online.
 */
#ifdef REFPMU_HAVE_CPU_CONTEXT_POINTERS
static inline struct perf_cpu_pmu_context *compat_cpu_context(const struct pmu *pmu,
							      unsigned int cpu)
{
	return *per_cpu_ptr(pmu->cpu_pmu_context, cpu);
}
#elif defined(REFPMU_HAVE_PMU_CONTEXT)
static inline struct perf_cpu_pmu_context *compat_cpu_context(const struct pmu *pmu,
							      unsigned int cpu)
{
	return per_cpu_ptr(pmu->cpu_pmu_context, cpu);
}
#else
static inline struct perf_cpu_context *compat_cpu_context(const struct pmu *pmu, unsigned int cpu)
{
	return per_cpu_ptr(pmu->pmu_cpu_context, cpu);
}
#endif

/*
 * perf_event_overflow() stops an event after its last overflow, and all events of a throttled
 * group. Otherwise the driver stops the event that overflowed.
 */
#ifdef REFPMU_HAVE_STOP_AT_LIMIT
#define COMPAT_STOPS_AT_LIMIT 1
#else
#define COMPAT_STOPS_AT_LIMIT 0
#endif

#ifdef REFPMU_HAVE_GROUP_THROTTLE
#define COMPAT_THROTTLES_GROUPS 1
#else
#define COMPAT_THROTTLES_GROUPS 0
#endif

/* Set a count of mappings, which is a refcount_t or an atomic_t. */
#define compat_set_map_count(count, value)				\
	do {								\
		typeof(count) at = (count);				\
									\
		if (__same_type(*at, refcount_t))			\
			refcount_set((void *)at, value);		\
		else							\
			atomic_set((void *)at, value);			\
	} while (0)

/*
 * A task as sched_task gets it, and the PMU's data of it. Kernels have that data either in the task
 * or in the task's perf context.
 */
struct compat_task {
#ifdef REFPMU_HAVE_CTX_DATA
	struct task_struct task;
	struct perf_ctx_data data;
#elif defined(REFPMU_HAVE_PMU_CONTEXT)
	struct perf_event_pmu_context context;
#else
	struct perf_event_context context;
#endif
};

/* Let @task have @data, which is from the cache of @pmu. */
static inline void compat_set_task_data(struct compat_task *task, const struct pmu *pmu, void *data)
{
#ifdef REFPMU_HAVE_CTX_DATA
	task->data.ctx_cache = pmu->task_ctx_cache;
	task->data.data = data;
	RCU_INIT_POINTER(task->task.perf_ctx_data, &task->data);
#else
	task->context.task_ctx_data = data;
#endif
}

static inline void *compat_task_data(const struct compat_task *task)
{
#ifdef REFPMU_HAVE_CTX_DATA
	return task->data.data;
#else
	return task->context.task_ctx_data;
#endif
}

/* Call sched_task of @pmu. @task: NULL for the current task, without data of the case. */
static inline void compat_sched_task(struct pmu *pmu, struct compat_task *task, bool sched_in)
{
#if defined(REFPMU_HAVE_CTX_DATA)
	pmu->sched_task(NULL, task ? &task->task : current, sched_in);
#elif defined(REFPMU_HAVE_SCHED_TASK_TASK)
	pmu->sched_task(task ? &task->context : NULL, current, sched_in);
#else
	pmu->sched_task(task ? &task->context : NULL, sched_in);
#endif
}

/*
 * Call swap_task_ctx of @pmu, with which a driver swaps the data of two tasks that have exchanged
 * their perf contexts. Return false if the data is in the task. Nothing is swapped then.
 */
static inline bool compat_swap_tasks(struct pmu *pmu, struct compat_task *one,
				     struct compat_task *two)
{
#ifdef REFPMU_HAVE_CTX_DATA
	return false;
#else
	pmu->swap_task_ctx(&one->context, &two->context);
	return true;
#endif
}

#endif /* MODULE */

#endif /* REFPMU_KUNIT_COMPAT_H */
