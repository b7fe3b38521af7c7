/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the glue share: the device, one CPU's part of it, and who calls whom. */
#ifndef REFPMU_GLUE_H
#define REFPMU_GLUE_H

#include <linux/cpuhotplug.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

#include "core/config.h"
#include "core/constraint.h"
#include "core/period.h"
#include "core/state.h"
#include "model/model.h"
#include "uapi/refpmu.h"

/* Handler rounds before the device is taken for stuck; handler runs before a line is a storm. */
#define REFPMU_IRQ_ROUNDS 32
#define REFPMU_IRQ_RUNS 64

/* Entries of one CPU's log; older ones are overwritten. */
#define REFPMU_LOG_ENTRIES 4096

/* What made the interrupt line rise last: that is what the samples show. */
struct refpmu_cause {
	enum refpmu_privilege privilege;
	u64 ip; /* 0: that of @regs, or of the user task */
	u64 addr;
	struct pt_regs regs; /* where the CPU was */
};

/*
 * One CPU: its device, and what the driver knows about it. Touched on that CPU alone, with
 * interrupts off, which keeps the interrupt out too; so there is no lock.
 */
struct refpmu_cpu {
	int cpu;
	struct refpmu_model model; /* the driver itself reaches it by the bus alone */

	/* Events in the order of their add; those of an open transaction have no counter. */
	struct perf_event *events[REFPMU_MAX_COUNTERS];
	unsigned int n_events;
	unsigned int n_before_txn;
	unsigned int txn; /* PERF_PMU_TXN_* of the open transaction, or 0 */

	/* Counters. */
	struct perf_event *owner[REFPMU_MAX_COUNTERS];
	u64 used; /* counters that have an owner */
	unsigned int running; /* of those, the ones that are not stopped */
	unsigned int disable_depth;

	/* Scratch of the scheduler, too large for the stack. */
	struct refpmu_want wants[REFPMU_MAX_COUNTERS];
	s8 counter[REFPMU_MAX_COUNTERS];

	/* The interrupt line. */
	struct irq_work pmi;
	unsigned int runs; /* of the handler, since the line was raised */
	bool held; /* by the stimulus port */
	bool serving; /* the handler runs; time stands still */
	struct refpmu_cause cause;

	/* The automatic clock. */
	struct hrtimer timer;
	u64 clock_base; /* local_clock() at which the model has arrived */
	u32 clock_mode; /* REFPMU_CLOCK_* */

	/* The log and the statistics. */
	struct refpmu_stats stats; /* calls, pmi, pmi_claimed and overflows alone */
	struct refpmu_log_entry *log;
	u64 log_next;
};

struct refpmu_device {
	struct pmu pmu;
	struct refpmu_caps caps; /* but own_type, which is pmu.type */
	struct refpmu_model_params params;
	struct refpmu_cpu __percpu *cpus;
	enum cpuhp_state hotplug;
	atomic64_t inits; /* calls of event_init and destroy belong to no CPU */
	atomic64_t destroys;
	atomic64_t live; /* events that event_init accepted and destroy has not had */
};

extern struct refpmu_device refpmu_device;

static inline struct refpmu_device *to_refpmu(struct pmu *pmu)
{
	return container_of(pmu, struct refpmu_device, pmu);
}

static inline struct refpmu_cpu *refpmu_this_cpu(void)
{
	return this_cpu_ptr(refpmu_device.cpus);
}

/* module.c */
int refpmu_cpu_reset(unsigned int cpu);

/* pmu.c: the callbacks, as perf calls them */
extern const struct pmu refpmu_pmu_ops;
int refpmu_event_init(struct perf_event *event);
int refpmu_add(struct perf_event *event, int flags);
void refpmu_del(struct perf_event *event, int flags);
void refpmu_start(struct perf_event *event, int flags);
void refpmu_stop(struct perf_event *event, int flags);
void refpmu_read(struct perf_event *event);

/* schedule.c: which event gets which counter */
int refpmu_schedule(struct refpmu_cpu *cpuc);
int refpmu_validate_group(struct perf_event *event);
void refpmu_release(struct refpmu_cpu *cpuc, struct perf_event *event);

/* counter.c: one event on its counter */
void refpmu_update(struct refpmu_cpu *cpuc, struct perf_event *event);
bool refpmu_set_period(struct refpmu_cpu *cpuc, struct perf_event *event);
void refpmu_do(struct refpmu_cpu *cpuc, struct perf_event *event, enum refpmu_op op);
void refpmu_ack(struct refpmu_cpu *cpuc, u64 status);

/* irq.c: from the line to the samples */
irqreturn_t refpmu_irq(struct refpmu_cpu *cpuc);
void refpmu_serve(struct refpmu_cpu *cpuc);
bool refpmu_line(const struct refpmu_cpu *cpuc);
void refpmu_raise(struct refpmu_cpu *cpuc);
void refpmu_irq_setup(struct refpmu_cpu *cpuc);

/* bus.c: the one way from the driver to the registers */
u64 refpmu_bus_read(struct refpmu_cpu *cpuc, u32 reg);
void refpmu_bus_write(struct refpmu_cpu *cpuc, u32 reg, u64 value);

/* clock.c: automatic ticks */
void refpmu_clock_sync(struct refpmu_cpu *cpuc);
void refpmu_clock_arm(struct refpmu_cpu *cpuc);
void refpmu_clock_mode(struct refpmu_cpu *cpuc, u32 mode);
void refpmu_clock_setup(struct refpmu_cpu *cpuc);

/* sysfs.c */
extern const struct attribute_group *refpmu_attr_groups[];
int refpmu_sysfs_setup(void);
void refpmu_sysfs_teardown(void);

/* log.c */
void refpmu_log(struct refpmu_cpu *cpuc, enum refpmu_log_kind kind, u32 what, u64 arg, u64 event);
void refpmu_log_call(enum refpmu_call call, const struct perf_event *event, u64 flags);
u32 refpmu_log_copy(const struct refpmu_cpu *cpuc, struct refpmu_log_entry *to, u32 capacity);
int refpmu_log_setup(struct refpmu_cpu *cpuc);

/* stimulus.c: /dev/refpmu */
int refpmu_port_register(void);
void refpmu_port_unregister(void);

#endif /* REFPMU_GLUE_H */
