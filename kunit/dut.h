/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls the callbacks of a PMU like perf does, given only its name and an event. */
#ifndef PMU_CONTRACT_DUT_H
#define PMU_CONTRACT_DUT_H

#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/perf_event.h>

#include "verifies.h"

#define DUT_STOPPED_UPTODATE (PERF_HES_STOPPED | PERF_HES_UPTODATE)
#define DUT_EVENTS 48 /* more than a PMU has counters */
#define DUT_FOREIGN 0x7fff0000 /* a type that no PMU has */

/* The PMU under test: its name in sysfs, and the config of one of its events. */
struct dut_target {
	const char *pmu;
	u64 config;
	u64 config1;
	u64 config2;
	/* generates an event, with interrupts on or off; NULL if events happen by themselves */
	void (*generate)(void);
	bool idle; /* no events happen, and none can be generated */
};

struct dut {
	const struct dut_target *target;
	struct device *dev;
	struct pmu *pmu; /* PMU of the events */
	struct pmu *software; /* perf's PMU of software events */
	struct perf_event_attr attr; /* of an event that is opened disabled */
	int cpu; /* CPU of the events and of the case */
	struct cpumask affinity; /* affinity of the thread before the case */
	/*
	 * Events that are open on one CPU and disabled for perf. Only the case calls callbacks for
	 * them.
	 */
	struct perf_event *events[DUT_EVENTS];
	unsigned int n_events;
	bool added[DUT_EVENTS];
	unsigned long irqs;
	/* The first state that a callback changed and did not restore, and the callback. */
	const char *caller;
	const char *unrestored;
};

/* For .init and .exit of a suite. test->priv is the struct live, with one event. */
int dut_init(struct kunit *test, const struct dut_target *target);
void dut_exit(struct kunit *test);

/* Return true for PMUs of perf itself: they have no counter that could differ from the count. */
static inline bool dut_is_software(const struct dut *dut)
{
	return dut->attr.type == PERF_TYPE_SOFTWARE || dut->attr.type == PERF_TYPE_TRACEPOINT;
}

/*
 * Return the flags with which an event can always be added. An event of a PMU with an AUX area
 * cannot be started without a buffer.
 */
static inline int dut_start_flag(const struct dut *dut)
{
	return dut->pmu->setup_aux ? 0 : PERF_EF_START;
}

/* Return the number of references to the driver's module; 0 in kernels without module unloading. */
static inline int dut_references(const struct dut *dut)
{
#ifdef CONFIG_MODULE_UNLOAD
	return module_refcount(dut->pmu->module);
#else
	return 0;
#endif
}

/* Skip the case if the PMU lacks a mandatory callback. Another case reports that. */
bool dut_has_callbacks(struct kunit *test);

/* Open another event of the target, or one with @attr. Return NULL if it is rejected. */
struct perf_event *dut_open(struct dut *dut);
struct perf_event *dut_open_attr(struct dut *dut, const struct perf_event_attr *attr);
void dut_close(struct dut *dut);

/* Open an event with @attr and close it. Return 0, or the errno of the rejection. */
int dut_try(struct dut *dut, const struct perf_event_attr *attr, int cpu,
	    struct task_struct *task);

/* A sampling event. Only perf calls its callbacks. */
struct dut_sampled {
	struct perf_event *event;
	u64 period;
	u64 samples;
	bool throttle; /* makes perf believe that the event samples too often */
	u64 wrong_period; /* the last sample period that differs from period; 0: none */
};

/*
 * Open a sampling event, disabled. Return 0, or the errno of the rejection. The caller must release
 * it.
 */
int dut_sample(struct dut *dut, u64 period, struct dut_sampled *sampled);

/* Generate events until there are @n samples. Return false after one second. */
bool dut_await(const struct dut *dut, const struct dut_sampled *sampled, u64 n);

/*
 * Make perf throttle the event, as if it sampled too often, and wait for that. Return false after
 * one second. @flags receives hw.state of the throttled event.
 */
bool dut_throttle(const struct dut *dut, struct dut_sampled *sampled, int *flags);

/*
 * Call event_init for an event in the state in which perf would pass it. perf does not know the
 * event. Return the result. @destroy receives whether event_init has set a destructor.
 */
int dut_event_init(struct dut *dut, const struct perf_event_attr *attr, bool *destroy);

struct dut_group {
	unsigned int accepted; /* number of events of the target that were accepted */
	int err; /* result of the next event; 0 if there was none */
	bool destroy; /* the rejected event has a destructor */
	bool touched; /* the members have changed the leader's hw */
};

/* Position of a software event in a group: none, leader, or first member. */
enum dut_software {
	DUT_NONE,
	DUT_LEADER,
	DUT_MEMBER,
};

/*
 * Call event_init for a group of @n events of the target. The first one is the leader, unless
 * @software is DUT_LEADER.
 */
struct dut_group dut_group_init(struct dut *dut, unsigned int n, enum dut_software software);

/*
 * Between dut_off() and dut_on(), interrupts are off, the events' context is locked and the PMU
 * is disabled, as perf does for add, del, start and stop. Between dut_lock() and dut_unlock() the
 * PMU is enabled, as for a read.
 */
void dut_off(struct dut *dut);
void dut_on(struct dut *dut);
void dut_lock(struct dut *dut);
void dut_unlock(struct dut *dut);

/*
 * Parts of dut_off() and dut_on(): disable and enable the PMU; calls nest. Interrupts off, on the
 * events' CPU.
 */
void dut_pmu_disable(struct dut *dut);
void dut_pmu_enable(struct dut *dut);

/*
 * Call a callback between these functions, and note if it changes a state that it must not change.
 */
int dut_call_add(struct dut *dut, unsigned int i, int flags);
void dut_call_del(struct dut *dut, unsigned int i);
void dut_call_start(struct dut *dut, unsigned int i, int flags);
void dut_call_stop(struct dut *dut, unsigned int i, int flags);
u64 dut_call_read(struct dut *dut, unsigned int i);

/* The same, including dut_off() and dut_on() or dut_lock() and dut_unlock(). */
int dut_add(struct dut *dut, unsigned int i, int flags);
void dut_del(struct dut *dut, unsigned int i);
void dut_start(struct dut *dut, unsigned int i, int flags);
void dut_stop(struct dut *dut, unsigned int i, int flags);
u64 dut_read(struct dut *dut, unsigned int i);

/* Run an ADD transaction. The PMU is disabled from its start to its commit or cancellation. */
void dut_txn_start(struct dut *dut);
int dut_txn_commit(struct dut *dut); /* 0; otherwise the transaction is still open */
void dut_txn_cancel(struct dut *dut);

/* These call no callback. */
u64 dut_count(const struct dut *dut, unsigned int i);
int dut_flags(const struct dut *dut, unsigned int i);

/*
 * Spin until the started event @i has counted. Return the nanoseconds that this took; 0 after one
 * second. dut_counts() does this for the first event.
 */
u64 dut_event_counts(struct dut *dut, unsigned int i);

static inline u64 dut_counts(struct dut *dut)
{
	return dut_event_counts(dut, 0);
}

/* Spin for much longer than @ns while events happen, with interrupts on or off. */
void dut_wait(const struct dut *dut, u64 ns);

/* Return true if pmu_disable stops the first event, which has been started, from counting. */
bool dut_stops_when_off(struct dut *dut, u64 pace);

/* Open and add events until one is rejected. Return the number of added events. */
unsigned int dut_fill(struct dut *dut);

#endif /* PMU_CONTRACT_DUT_H */
