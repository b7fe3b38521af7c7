// SPDX-License-Identifier: GPL-2.0-only
/* A PMU that does not count, and records how perf calls it. */
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "compat.h"
#include "recorder.h"

static struct recorder *to_recorder(struct pmu *pmu)
{
	return container_of(pmu, struct recorder, pmu);
}

static void note(struct pmu *pmu, enum recorder_callback what, int flags, u64 value)
{
	struct recorder *recorder = to_recorder(pmu);
	const bool irqs_off = irqs_disabled();
	unsigned long irqs;

	local_irq_save(irqs);
	if (recorder->n_calls < RECORDER_CALLS)
		recorder->calls[recorder->n_calls] = (struct recorder_call){
			.what = what,
			.flags = flags,
			.cpu = smp_processor_id(),
			.value = value,
			.irqs_off = irqs_off,
			.pmu_off = *compat_disable_count(pmu),
		};
	recorder->n_calls++;
	local_irq_restore(irqs);
}

static void recorder_destroy(struct perf_event *event)
{
	note(event->pmu, RECORDER_DESTROY, 0, 0);
}

/* perf also calls this for events of foreign types. */
static int recorder_event_init(struct perf_event *event)
{
	struct recorder *recorder = to_recorder(event->pmu);
	/* perf found this PMU by the extended type */
	const bool wide = event->attr.type < PERF_TYPE_MAX;

	might_sleep();
	note(event->pmu, RECORDER_INIT, event->attr.type, event->attr.config);
	recorder->hw = event->hw;
	recorder->attr = event->attr;
	if (event->attr.type != event->pmu->type && !wide)
		return recorder->foreign_error;
	if (recorder->init_error)
		return recorder->init_error;
	if (wide && !(event->pmu->capabilities & PERF_PMU_CAP_EXTENDED_HW_TYPE))
		return -ENOENT;
	event->destroy = recorder_destroy;
	if (event->pmu->sched_task)
		event->attach_state |= PERF_ATTACH_SCHED_CB;
	return 0;
}

static int recorder_add(struct perf_event *event, int flags)
{
	struct recorder *recorder = to_recorder(event->pmu);

	note(event->pmu, RECORDER_ADD, flags, event->hw.interrupts);
	if (!recorder->add_error)
		event->hw.state = flags & PERF_EF_START ? 0 : PERF_HES_STOPPED | PERF_HES_UPTODATE;
	return recorder->add_error;
}

static void recorder_del(struct perf_event *event, int flags)
{
	note(event->pmu, RECORDER_DEL, flags, 0);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static void recorder_start(struct perf_event *event, int flags)
{
	note(event->pmu, RECORDER_START, flags, local64_read(&event->hw.period_left));
	event->hw.state = 0;
}

static void recorder_stop(struct perf_event *event, int flags)
{
	note(event->pmu, RECORDER_STOP, flags, 0);
	event->hw.state |= PERF_HES_STOPPED | (flags & PERF_EF_UPDATE ? PERF_HES_UPTODATE : 0);
}

static void recorder_read(struct perf_event *event)
{
	note(event->pmu, RECORDER_READ, 0, 0);
}

static void recorder_pmu_enable(struct pmu *pmu)
{
	note(pmu, RECORDER_ENABLE, 0, 0);
}

static void recorder_pmu_disable(struct pmu *pmu)
{
	note(pmu, RECORDER_DISABLE, 0, 0);
}

static int recorder_check_period(struct perf_event *event, u64 period)
{
	note(event->pmu, RECORDER_CHECK_PERIOD, 0, period);
	return to_recorder(event->pmu)->period_error;
}

int recorder_init(struct kunit *test)
{
	struct recorder *recorder = kunit_kzalloc(test, sizeof(*recorder), GFP_KERNEL);

	if (!recorder)
		return -ENOMEM;
	test->priv = recorder;
	recorder->foreign_error = -ENOENT;
	recorder->pmu = (struct pmu){
		.task_ctx_nr = perf_invalid_context,
		.event_init = recorder_event_init,
		.add = recorder_add,
		.del = recorder_del,
		.start = recorder_start,
		.stop = recorder_stop,
		.read = recorder_read,
		.pmu_enable = recorder_pmu_enable,
		.pmu_disable = recorder_pmu_disable,
		.check_period = recorder_check_period,
	};
	/* Each case runs in its own thread, so the affinity ends with the case. */
	return set_cpus_allowed_ptr(current, cpumask_of(RECORDER_CPU));
}

/*
 * A failed add has armed the timer that rotates events. perf frees the timer with the PMU, even if
 * it is armed.
 */
static void cancel_turns(struct pmu *pmu)
{
	int cpu;

	if (pmu->task_ctx_nr != perf_invalid_context)
		return;
	for_each_possible_cpu(cpu) {
		if (compat_cpu_context(pmu, cpu))
			hrtimer_cancel(&compat_cpu_context(pmu, cpu)->hrtimer);
	}
}

void recorder_unregister(struct recorder *recorder)
{
	while (recorder->n_events)
		perf_event_release_kernel(recorder->events[--recorder->n_events]);
	if (recorder->registered) {
		cancel_turns(&recorder->pmu);
		perf_pmu_unregister(&recorder->pmu);
	}
	recorder->registered = false;
	/* Newer kernels would take the stale pointer for a device that the driver has set. */
	recorder->pmu.dev = NULL;
}

void recorder_exit(struct kunit *test)
{
	struct recorder *recorder = test->priv;

	if (recorder)
		recorder_unregister(recorder);
}

int recorder_register_as(struct recorder *recorder, const char *name, int type)
{
	const int err = perf_pmu_register(&recorder->pmu, name, type);

	recorder->registered = !err;
	return err;
}

void recorder_register(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, recorder_register_as(test->priv, "recorder", -1), 0);
}

struct perf_event_attr recorder_attr(const struct recorder *recorder)
{
	return (struct perf_event_attr){
		.type = recorder->pmu.type,
		.size = sizeof(struct perf_event_attr),
		.disabled = 1,
	};
}

int recorder_try(struct recorder *recorder, struct perf_event_attr *attr, int cpu,
		 struct task_struct *task)
{
	struct perf_event *event;

	if (recorder->n_events == RECORDER_EVENTS)
		return -ENOSPC;
	event = perf_event_create_kernel_counter(attr, cpu, task, NULL, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	recorder->events[recorder->n_events++] = event;
	return 0;
}

struct perf_event *recorder_open(struct kunit *test, struct perf_event_attr *attr)
{
	struct recorder *recorder = test->priv;

	KUNIT_ASSERT_EQ(test, recorder_try(recorder, attr, RECORDER_CPU, NULL), 0);
	return recorder->events[recorder->n_events - 1];
}

void recorder_clear(struct recorder *recorder)
{
	recorder->n_calls = 0;
}

unsigned int recorder_count(const struct recorder *recorder, enum recorder_callback what)
{
	const unsigned int n = min_t(unsigned int, READ_ONCE(recorder->n_calls), RECORDER_CALLS);
	unsigned int i, count = 0;

	for (i = 0; i < n; i++)
		count += recorder->calls[i].what == what;
	return count;
}

struct recorder_call recorder_last(struct kunit *test, enum recorder_callback what)
{
	const struct recorder *recorder = test->priv;
	unsigned int i = recorder->n_calls;

	KUNIT_ASSERT_LE(test, i, (unsigned int)RECORDER_CALLS);
	while (i && recorder->calls[i - 1].what != what)
		i--;
	KUNIT_ASSERT_NE_MSG(test, i, 0U, "no call of %d", what);
	return recorder->calls[i - 1];
}

int recorder_overflow(struct perf_event *event)
{
	struct perf_sample_data data;
	struct pt_regs regs;

	lockdep_assert_irqs_disabled();
	perf_fetch_caller_regs(&regs);
	perf_sample_data_init(&data, 0, event->hw.last_period);
	return perf_event_overflow(event, &data, &regs);
}
