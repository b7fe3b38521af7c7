/* SPDX-License-Identifier: GPL-2.0-only */
/* A PMU of which only its name and an event are known: its callbacks, called as perf does. */
#ifndef PMU_CONTRACT_LIVE_H
#define PMU_CONTRACT_LIVE_H

#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/perf_event.h>

#include "keeps.h"

#define LIVE_SETTLED (PERF_HES_STOPPED | PERF_HES_UPTODATE)
#define LIVE_EVENTS 48 /* more than counters, where there are counters */
#define LIVE_FOREIGN 0x7fff0000 /* a type that nobody owns */

/* What to look at: the name of a PMU in sysfs, and the config of an event of it. */
struct live_target {
	const char *pmu;
	u64 config;
	u64 config1;
	u64 config2;
	void (*happen)(void); /* lets it happen, interrupts on or off; NULL if it does by itself */
	bool idle; /* it does not happen by itself, and nothing lets it */
};

struct live {
	const struct live_target *target;
	struct device *dev;
	struct pmu *pmu; /* the one that has the events */
	struct pmu *software; /* the one of perf */
	struct perf_event_attr attr; /* of an event that is open but off */
	int cpu; /* where they are, and where the case runs */
	struct cpumask before; /* where it ran before */
	/* Open, on one CPU and off for perf: whoever calls callbacks for them is a case alone. */
	struct perf_event *events[LIVE_EVENTS];
	unsigned int n_events;
	bool added[LIVE_EVENTS];
	unsigned long irqs;
	/* The first thing that a callback left other than it was. */
	const char *caller;
	const char *left;
};

/* The suite's .init and .exit; test->priv is the struct live, with one event. */
int live_init(struct kunit *test, const struct live_target *target);
void live_exit(struct kunit *test);

/* The count is all that perf's own PMUs keep: there is no counter that could be behind. */
static inline bool live_is_software(const struct live *live)
{
	return live->attr.type == PERF_TYPE_SOFTWARE || live->attr.type == PERF_TYPE_TRACEPOINT;
}

/* How an event is added so that it can be: one with an AUX area cannot be started without. */
static inline int live_how(const struct live *live)
{
	return live->pmu->setup_aux ? 0 : PERF_EF_START;
}

/* References to the driver's module: where modules can be unloaded. */
static inline int live_references(const struct live *live)
{
#ifdef CONFIG_MODULE_UNLOAD
	return module_refcount(live->pmu->module);
#else
	return 0;
#endif
}

/* Skips the case if perf has nothing to call there, which another case complains of. */
bool live_is_whole(struct kunit *test);

/* Opens another event of the target, or one of @attr; NULL if that is refused. */
struct perf_event *live_open(struct live *live);
struct perf_event *live_open_of(struct live *live, const struct perf_event_attr *attr);
void live_close(struct live *live);

/* Opens an event of @attr and closes it again: 0, or why it was refused. */
int live_try(struct live *live, const struct perf_event_attr *attr, int cpu,
	     struct task_struct *task);

/* An event that samples, of which perf alone calls the callbacks. */
struct live_sampled {
	struct perf_event *event;
	u64 period;
	u64 samples;
	bool too_often; /* what perf is to think */
	u64 odd; /* another period than that, which the last such sample says has gone by; or 0 */
};

/* Opens one, off; 0, or why it was refused. Whoever has it releases it. */
int live_sample(struct live *live, u64 period, struct live_sampled *sampled);

/* Lets events happen until it has had @n samples; false if it has not in a second. */
bool live_await(const struct live *live, const struct live_sampled *sampled, u64 n);

/*
 * Has perf throttle it, as it does with one that samples too often, and waits for that; false if it
 * has not happened in a second. @flags: of hw.state while it was throttled.
 */
bool live_throttle(const struct live *live, struct live_sampled *sampled, int *flags);

/*
 * What event_init answers about an event as perf has it then, beside perf: nobody else sees it.
 * *@destroy: whether it has a destructor afterwards.
 */
int live_ask(struct live *live, const struct perf_event_attr *attr, bool *destroy);

struct live_group {
	unsigned int taken; /* events of the target that were accepted, one after another */
	int err; /* the answer to the next one, or 0 if there was none */
	bool destroy; /* which has a destructor all the same */
	bool touched; /* the leader's hw is not what it was without members */
};

/* A software event in a group: none, or it is the leader, or the first member. */
enum live_software {
	LIVE_NONE,
	LIVE_LEADS,
	LIVE_JOINS,
};

/* The same about a group of @n events of the target, led by the first unless @software leads. */
struct live_group live_ask_group(struct live *live, unsigned int n, enum live_software software);

/*
 * In between, interrupts are off, the events' context is locked and the PMU is off, as perf has it
 * when it adds and deletes, starts and stops. live_lock() has the PMU on, as for a read.
 */
void live_off(struct live *live);
void live_on(struct live *live);
void live_lock(struct live *live);
void live_unlock(struct live *live);

/* Its parts: the PMU off and on again, as perf nests it. Interrupts off, on the events' CPU. */
void live_switch_off(struct live *live);
void live_switch_on(struct live *live);

/* The callbacks, in between; they take down whether the callback leaves things as they were. */
int live_call_add(struct live *live, unsigned int i, int flags);
void live_call_del(struct live *live, unsigned int i);
void live_call_start(struct live *live, unsigned int i, int flags);
void live_call_stop(struct live *live, unsigned int i, int flags);
u64 live_call_read(struct live *live, unsigned int i);

/* The same with all that belongs around them. */
int live_add(struct live *live, unsigned int i, int flags);
void live_del(struct live *live, unsigned int i);
void live_start(struct live *live, unsigned int i, int flags);
void live_stop(struct live *live, unsigned int i, int flags);
u64 live_read(struct live *live, unsigned int i);

/* Around an ADD transaction: the PMU is off from its start to the end that it comes to. */
void live_txn_start(struct live *live);
int live_txn_commit(struct live *live); /* 0, or it is still open */
void live_txn_cancel(struct live *live);

/* Without a callback. */
u64 live_count(const struct live *live, unsigned int i);
int live_flags(const struct live *live, unsigned int i);

/*
 * Spins until an event, which has been started, has counted: the nanoseconds that took, or 0 if it
 * has not in a second. live_moves(): the first one.
 */
u64 live_moves_one(struct live *live, unsigned int i);

static inline u64 live_moves(struct live *live)
{
	return live_moves_one(live, 0);
}

/* Spins while the event happens for much longer than @ns, interrupts on or off. */
void live_wait(const struct live *live, u64 ns);

/* Whether the PMU's own switch keeps the first event, which has been started, from counting. */
bool live_holds(struct live *live, u64 pace);

/* Opens and adds events until one is refused: how many were added. */
unsigned int live_fill(struct live *live);

#endif /* PMU_CONTRACT_LIVE_H */
