/* SPDX-License-Identifier: GPL-2.0-only */
/* A PMU that does not count, and records how perf calls it. */
#ifndef REFPMU_KUNIT_RECORDER_H
#define REFPMU_KUNIT_RECORDER_H

#include <linux/perf_event.h>

#include "verifies.h"

#define RECORDER_CPU 0 /* CPU of the cases */
#define RECORDER_FOREIGN 0x7fff0000 /* a type that no PMU has */

enum recorder_callback {
	RECORDER_INIT, /* flags: the requested type; value: the config */
	RECORDER_DESTROY,
	RECORDER_ADD, /* value: hw.interrupts, which marks a throttled event */
	RECORDER_DEL,
	RECORDER_START, /* value: hw.period_left */
	RECORDER_STOP,
	RECORDER_READ,
	RECORDER_ENABLE,
	RECORDER_DISABLE,
	RECORDER_CHECK_PERIOD, /* value: the period */
	RECORDER_SCHED_TASK, /* flags: sched_in */
};

struct recorder_call {
	enum recorder_callback what;
	int flags;
	int cpu;
	u64 value;
	bool irqs_off;
	bool pmu_off; /* the PMU is disabled on that CPU */
};

#define RECORDER_CALLS 64
#define RECORDER_EVENTS 4

struct recorder {
	struct pmu pmu; /* a case may change it before the registration */
	bool registered;
	struct perf_event *events[RECORDER_EVENTS]; /* released at the end of the case */
	unsigned int n_events;
	/* Return values of the callbacks. */
	int init_error;
	int foreign_error;
	int add_error;
	int period_error;
	/* Recorded calls: the first RECORDER_CALLS of n_calls. */
	struct recorder_call calls[RECORDER_CALLS];
	unsigned int n_calls;
	struct hw_perf_event hw; /* of the event in the last call of event_init */
	struct perf_event_attr attr; /* attr of that event */
};

/*
 * For .init and .exit of a suite. test->priv is the recorder: a system-wide PMU with all mandatory
 * callbacks.
 */
int recorder_init(struct kunit *test);
void recorder_exit(struct kunit *test);

/* Register it with its own name and any type. The case fails if that fails. */
void recorder_register(struct kunit *test);

/* Register it with this name and type; -1: any type. Return 0 or the errno. */
int recorder_register_as(struct recorder *recorder, const char *name, int type);

/* Release its events and unregister it, if it is registered. */
void recorder_unregister(struct recorder *recorder);

/* Return the attr of an event of the recorder that is opened disabled. */
struct perf_event_attr recorder_attr(const struct recorder *recorder);

/* Open an event on @cpu. Return 0 or the errno. The event is released at the end of the case. */
int recorder_try(struct recorder *recorder, struct perf_event_attr *attr, int cpu,
		 struct task_struct *task);

/* Open an event on RECORDER_CPU. The case fails if that fails. */
struct perf_event *recorder_open(struct kunit *test, struct perf_event_attr *attr);

void recorder_clear(struct recorder *recorder);
unsigned int recorder_count(const struct recorder *recorder, enum recorder_callback what);

/* Return the last call of @what. The case fails if there was none. */
struct recorder_call recorder_last(struct kunit *test, enum recorder_callback what);

/*
 * Report an overflow like a driver, and return perf's result. Interrupts off, on the event's CPU.
 */
int recorder_overflow(struct perf_event *event);

#endif /* REFPMU_KUNIT_RECORDER_H */
