/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * refpmu_uncore: a system-wide PMU. It counts for the whole machine, so its events belong to no
 * task and to no CPU, and it has no interrupt. This file has the declarations that its files share.
 */
#ifndef REFPMU_UNCORE_H
#define REFPMU_UNCORE_H

#include <linux/cpuhotplug.h>
#include <linux/hrtimer.h>
#include <linux/perf_event.h>
#include <linux/spinlock.h>

#include "core/constraint.h"
#include "core/state.h"
#include "model/model.h"
#include "uapi/refpmu.h"

#define REFPMU_UNCORE_NAME "refpmu_uncore"

/*
 * The device guarantees that no counter advances by more than half its range within 100 ms. The
 * driver reads the counters five times as often, so a late timer does no harm.
 */
#define REFPMU_UNCORE_POLL_NS (20 * NSEC_PER_MSEC)

struct refpmu_uncore {
	struct pmu pmu;
	struct refpmu_model_params params;
	bool scoped; /* the kernel chooses the CPU; the fields before the lock are then unused */

	/* The CPU of all events; nr_cpu_ids if there is none. */
	unsigned int cpu;
	enum cpuhp_state hotplug;

	/*
	 * Protects all fields below. Callbacks run on the CPU of the event, reads on any CPU, and
	 * the timer on the CPU that started it. It is taken in hard interrupts, so it is raw, and
	 * interrupts are off.
	 */
	raw_spinlock_t lock;
	struct refpmu_model model; /* the driver accesses it only through the bus */
	u64 seen[REFPMU_MAX_GENERAL]; /* values of the counters at the driver's last access */
	struct perf_event *owner[REFPMU_MAX_GENERAL];
	u64 used; /* counters that have an owner */
	u64 running; /* used counters whose event counts */
	struct hrtimer timer; /* active while a counter counts */
	u64 polls;
	u64 calls[REFPMU_CALL_MAX];

	/* Work areas of the scheduler, too large for the stack. */
	struct perf_event *queue[REFPMU_MAX_GENERAL];
	struct refpmu_want wants[REFPMU_MAX_GENERAL];
	struct refpmu_place places[REFPMU_MAX_GENERAL];

	atomic64_t inits;
	atomic64_t destroys;
	atomic64_t live; /* events that event_init accepted and that are not destroyed yet */
};

extern struct refpmu_uncore refpmu_uncore;

static inline struct refpmu_uncore *to_refpmu_uncore(struct pmu *pmu)
{
	return container_of(pmu, struct refpmu_uncore, pmu);
}

/* One event that sysfs shows in events/. */
struct refpmu_uncore_event {
	const char *name;
	u16 code; /* event code in bits 0-7, unit mask in bits 8-15 */
	u64 counters; /* counters that can count it, of those that the device has */
	/*
	 * Scale and unit of the event, and the names of their files; either all are NULL or none.
	 */
	const char *scale;
	const char *unit;
	const char *scale_name;
	const char *unit_name;
};

extern const struct refpmu_uncore_event refpmu_uncore_events[];
extern const unsigned int refpmu_uncore_events_count;

/* pmu.c, for module.c and tests */
int refpmu_uncore_register(void);
void refpmu_uncore_unregister(void);
extern const struct pmu refpmu_uncore_ops;

/* init.c: opening an event */
int refpmu_uncore_event_init(struct perf_event *event);

/* box.c: events on counters. Interrupts off; the functions take the lock. */
int refpmu_uncore_add(struct perf_event *event, int flags);
void refpmu_uncore_del(struct perf_event *event, int flags);
void refpmu_uncore_start(struct perf_event *event, int flags);
void refpmu_uncore_stop(struct perf_event *event, int flags);
void refpmu_uncore_read(struct perf_event *event);

/* Return the want of @event for the constraint solver. */
struct refpmu_want refpmu_uncore_want(const struct perf_event *event);

/* timer.c: read the counters before they wrap. The caller holds the lock. */
void refpmu_uncore_timer_setup(struct refpmu_uncore *uncore);
void refpmu_uncore_timer_start(struct refpmu_uncore *uncore);
void refpmu_uncore_timer_stop(struct refpmu_uncore *uncore);

/* cpu.c: the CPU of the events */
int refpmu_uncore_online(struct refpmu_uncore *uncore);
void refpmu_uncore_offline(struct refpmu_uncore *uncore);
extern const struct attribute_group refpmu_uncore_cpumask_group;

/* sysfs.c */
extern const struct attribute_group *refpmu_uncore_attr_groups[];
int refpmu_uncore_sysfs_setup(void);
void refpmu_uncore_sysfs_teardown(void);

/* counter.c: the counters. The caller holds the lock. */
void refpmu_uncore_fold(struct refpmu_uncore *uncore, struct perf_event *event);
void refpmu_uncore_reload(struct refpmu_uncore *uncore, struct perf_event *event);
void refpmu_uncore_poll(struct refpmu_uncore *uncore);

/* bus.c: the registers. The caller holds the lock. */
u64 refpmu_uncore_bus_read(struct refpmu_uncore *uncore, u32 reg);
void refpmu_uncore_bus_write(struct refpmu_uncore *uncore, u32 reg, u64 value);

/* port.c: /dev/refpmu_uncore */
int refpmu_uncore_port_register(void);
void refpmu_uncore_port_unregister(void);

#endif /* REFPMU_UNCORE_H */
