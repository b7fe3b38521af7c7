/* SPDX-License-Identifier: GPL-2.0-only */
/* A PMU that counts nothing and takes down how perf calls it. */
#ifndef REFPMU_KUNIT_RECORDER_H
#define REFPMU_KUNIT_RECORDER_H

#include <linux/perf_event.h>

#include "keeps.h"

#define RECORDER_CPU 0 /* runs the cases */
#define RECORDER_FOREIGN 0x7fff0000 /* a type that nobody owns */

enum recorder_what {
	RECORDER_INIT, /* its flags: the type that was asked for, and its value: the config */
	RECORDER_DESTROY,
	RECORDER_ADD, /* its value: hw.interrupts, by which perf knows a throttled event */
	RECORDER_DEL,
	RECORDER_START, /* its value: hw.period_left */
	RECORDER_STOP,
	RECORDER_READ,
	RECORDER_ENABLE,
	RECORDER_DISABLE,
	RECORDER_CHECK_PERIOD, /* its value: the period */
	RECORDER_SCHED_TASK, /* its flags: whether a task comes */
};

struct recorder_call {
	enum recorder_what what;
	int flags;
	int cpu;
	u64 value;
	bool irqs_off;
	bool pmu_off; /* on that CPU */
};

#define RECORDER_CALLS 64
#define RECORDER_EVENTS 4

struct recorder {
	struct pmu pmu; /* a case may change it until it is registered */
	bool registered;
	struct perf_event *events[RECORDER_EVENTS]; /* released at the end of the case */
	unsigned int n_events;
	/* What the callbacks answer. */
	int init_error;
	int foreign_error;
	int add_error;
	int period_error;
	/* What they saw: the first RECORDER_CALLS of n_calls. */
	struct recorder_call calls[RECORDER_CALLS];
	unsigned int n_calls;
	struct hw_perf_event hw; /* of the last event that event_init was asked about */
	struct perf_event_attr attr; /* its own */
};

/* The suite's .init and .exit. The recorder is test->priv: machine-wide, with all that it must. */
int recorder_init(struct kunit *test);
void recorder_exit(struct kunit *test);

/* Registers it under a name and a type of its own; the case fails if that fails. */
void recorder_register(struct kunit *test);
void recorder_unregister(struct recorder *recorder);

/* Of an event of the recorder that is open but off. */
struct perf_event_attr recorder_attr(const struct recorder *recorder);

/* Opens an event on @cpu, or says why not; it is released at the end of the case. */
int recorder_try(struct recorder *recorder, struct perf_event_attr *attr, int cpu,
		 struct task_struct *task);

/* Opens one on RECORDER_CPU; the case fails if that fails. */
struct perf_event *recorder_open(struct kunit *test, struct perf_event_attr *attr);

void recorder_forget(struct recorder *recorder);
unsigned int recorder_count(const struct recorder *recorder, enum recorder_what what);

/* The last call of @what; the case fails if there was none. */
struct recorder_call recorder_last(struct kunit *test, enum recorder_what what);

/* An overflow as a driver reports it: what perf answers. Interrupts off, on the event's CPU. */
int recorder_overflow(struct perf_event *event);

#endif /* REFPMU_KUNIT_RECORDER_H */
