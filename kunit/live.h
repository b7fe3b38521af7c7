/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls the callbacks of a PMU like perf does, given only its name and an event. */
#ifndef PMU_CONTRACT_LIVE_H
#define PMU_CONTRACT_LIVE_H

#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/perf_event.h>

#include "keeps.h"

#define LIVE_SETTLED (PERF_HES_STOPPED | PERF_HES_UPTODATE)
#define LIVE_EVENTS 48 /* more than a PMU has counters */
#define LIVE_FOREIGN 0x7fff0000 /* a type that no PMU has */

/* The PMU under test: its name in sysfs, and the config of one of its events. */
struct live_target {
	const char *pmu;
	u64 config;
	u64 config1;
	u64 config2;
	/* generates an event, with interrupts on or off; NULL if events happen by themselves */
	void (*happen)(void);
	bool idle; /* no events happen, and none can be generated */
};

struct live {
	const struct live_target *target;
	struct device *dev;
	struct pmu *pmu; /* PMU of the events */
	struct pmu *software; /* perf's PMU of software events */
	struct perf_event_attr attr; /* of an event that is opened disabled */
	int cpu; /* CPU of the events and of the case */
	struct cpumask before; /* affinity of the thread before the case */
	/*
	 * Events that are open on one CPU and disabled for perf. Only the case calls callbacks for
	 * them.
	 */
	struct perf_event *events[LIVE_EVENTS];
	unsigned int n_events;
	bool added[LIVE_EVENTS];
	unsigned long irqs;
	/* The first state that a callback changed and did not restore, and the callback. */
	const char *caller;
	const char *left;
};

/* For .init and .exit of a suite. test->priv is the struct live, with one event. */
int live_init(struct kunit *test, const struct live_target *target);
void live_exit(struct kunit *test);

/* Return true for PMUs of perf itself: they have no counter that could differ from the count. */
static inline bool live_is_software(const struct live *live)
{
	return live->attr.type == PERF_TYPE_SOFTWARE || live->attr.type == PERF_TYPE_TRACEPOINT;
}

/*
 * Return the flags with which an event can always be added. An event of a PMU with an AUX area
 * cannot be started without a buffer.
 */
static inline int live_how(const struct live *live)
{
	return live->pmu->setup_aux ? 0 : PERF_EF_START;
}

/* Return the number of references to the driver's module; 0 in kernels without module unloading. */
static inline int live_references(const struct live *live)
{
#ifdef CONFIG_MODULE_UNLOAD
	return module_refcount(live->pmu->module);
#else
	return 0;
#endif
}

/* Skip the case if the PMU lacks a mandatory callback. Another case reports that. */
bool live_is_whole(struct kunit *test);

/* Open another event of the target, or one with @attr. Return NULL if it is rejected. */
struct perf_event *live_open(struct live *live);
struct perf_event *live_open_of(struct live *live, const struct perf_event_attr *attr);
void live_close(struct live *live);

/* Open an event with @attr and close it. Return 0, or the errno of the rejection. */
int live_try(struct live *live, const struct perf_event_attr *attr, int cpu,
	     struct task_struct *task);

/* A sampling event. Only perf calls its callbacks. */
struct live_sampled {
	struct perf_event *event;
	u64 period;
	u64 samples;
	bool too_often; /* makes perf believe that the event samples too often */
	u64 odd; /* the last sample period that differs from period; 0: none */
};

/*
 * Open a sampling event, disabled. Return 0, or the errno of the rejection. The caller must release
 * it.
 */
int live_sample(struct live *live, u64 period, struct live_sampled *sampled);

/* Generate events until there are @n samples. Return false after one second. */
bool live_await(const struct live *live, const struct live_sampled *sampled, u64 n);

/*
 * Make perf throttle the event, as if it sampled too often, and wait for that. Return false after
 * one second. @flags receives hw.state of the throttled event.
 */
bool live_throttle(const struct live *live, struct live_sampled *sampled, int *flags);

/*
 * Call event_init for an event in the state in which perf would pass it. perf does not know the
 * event. Return the result. @destroy receives whether event_init has set a destructor.
 */
int live_ask(struct live *live, const struct perf_event_attr *attr, bool *destroy);

struct live_group {
	unsigned int taken; /* number of events of the target that were accepted */
	int err; /* result of the next event; 0 if there was none */
	bool destroy; /* the rejected event has a destructor */
	bool touched; /* the members have changed the leader's hw */
};

/* Position of a software event in a group: none, leader, or first member. */
enum live_software {
	LIVE_NONE,
	LIVE_LEADS,
	LIVE_JOINS,
};

/*
 * Call event_init for a group of @n events of the target. The first one is the leader, unless
 * @software is LIVE_LEADS.
 */
struct live_group live_ask_group(struct live *live, unsigned int n, enum live_software software);

/*
 * Between live_off() and live_on(), interrupts are off, the events' context is locked and the PMU
 * is disabled, as perf does for add, del, start and stop. Between live_lock() and live_unlock() the
 * PMU is enabled, as for a read.
 */
void live_off(struct live *live);
void live_on(struct live *live);
void live_lock(struct live *live);
void live_unlock(struct live *live);

/*
 * Parts of live_off() and live_on(): disable and enable the PMU; calls nest. Interrupts off, on the
 * events' CPU.
 */
void live_switch_off(struct live *live);
void live_switch_on(struct live *live);

/*
 * Call a callback between these functions, and note if it changes a state that it must not change.
 */
int live_call_add(struct live *live, unsigned int i, int flags);
void live_call_del(struct live *live, unsigned int i);
void live_call_start(struct live *live, unsigned int i, int flags);
void live_call_stop(struct live *live, unsigned int i, int flags);
u64 live_call_read(struct live *live, unsigned int i);

/* The same, including live_off() and live_on() or live_lock() and live_unlock(). */
int live_add(struct live *live, unsigned int i, int flags);
void live_del(struct live *live, unsigned int i);
void live_start(struct live *live, unsigned int i, int flags);
void live_stop(struct live *live, unsigned int i, int flags);
u64 live_read(struct live *live, unsigned int i);

/* Run an ADD transaction. The PMU is disabled from its start to its commit or cancellation. */
void live_txn_start(struct live *live);
int live_txn_commit(struct live *live); /* 0; otherwise the transaction is still open */
void live_txn_cancel(struct live *live);

/* These call no callback. */
u64 live_count(const struct live *live, unsigned int i);
int live_flags(const struct live *live, unsigned int i);

/*
 * Spin until the started event @i has counted. Return the nanoseconds that this took; 0 after one
 * second. live_moves() does this for the first event.
 */
u64 live_moves_one(struct live *live, unsigned int i);

static inline u64 live_moves(struct live *live)
{
	return live_moves_one(live, 0);
}

/* Spin for much longer than @ns while events happen, with interrupts on or off. */
void live_wait(const struct live *live, u64 ns);

/* Return true if pmu_disable stops the first event, which has been started, from counting. */
bool live_holds(struct live *live, u64 pace);

/* Open and add events until one is rejected. Return the number of added events. */
unsigned int live_fill(struct live *live);

#endif /* PMU_CONTRACT_LIVE_H */
