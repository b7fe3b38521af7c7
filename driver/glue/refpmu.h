/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of a core PMU share: the device, one CPU's part of it, and who calls whom. */
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
#include "log.h"
#include "model/model.h"
#include "port.h"
#include "precise.h"
#include "uapi/refpmu.h"

/* Handler rounds before the device is taken for stuck; handler runs before a line is a storm. */
#define REFPMU_IRQ_ROUNDS 32
#define REFPMU_IRQ_RUNS 64

/* Kinds of core in one machine. */
#define REFPMU_MAX_DEVICES 2

/* What made the interrupt line rise last: that is what the samples show. */
struct refpmu_cause {
	struct refpmu_origin origin; /* its ip 0: that of @regs, or of the user task */
	struct pt_regs regs; /* where the CPU was */
};

/*
 * One CPU of a device: its registers, and what the driver knows about them. Touched on that CPU
 * alone, with interrupts off; so there is no lock. An NMI may come all the same: the handler leaves
 * the CPU alone while the PMU is disabled or the handler is masked, and is run again afterwards.
 * What it shares with those who do not keep it out is written by single instructions.
 */
struct refpmu_cpu {
	struct refpmu_device *dev;
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
	u64 fixed_ctrl; /* as the register is to be */
	u64 fixed_written; /* as it is */
	u64 status; /* as in the register when the PMU was disabled, but what was acknowledged */
	unsigned int disable_depth;
	unsigned int masked; /* the handler is kept out, beside the disable depth */

	/* Scratch of the scheduler, too large for the stack. */
	struct refpmu_want wants[REFPMU_MAX_COUNTERS];
	struct refpmu_place places[REFPMU_MAX_COUNTERS];

	/* The interrupt line. */
	struct irq_work pmi; /* the interrupt, or what is left to do after an NMI */
	bool raised; /* an interrupt is on its way */
	bool latched; /* it came while the handler was kept out */
	unsigned int runs; /* of the handler, since the line was raised */
	bool held; /* by the stimulus port */
	bool serving; /* the handler runs; time stands still */
	struct refpmu_cause cause;

	/* The automatic clock. */
	struct hrtimer timer;
	u64 timer_due; /* local_clock() at which it fires, if it is queued */
	bool arming; /* the timer runs, and is armed again when that is done */
	u64 clock_base; /* local_clock() at which the model has arrived; 0: nothing counts */
	u32 clock_mode; /* REFPMU_CLOCK_* */

	struct refpmu_precise precise;
	struct refpmu_lbr lbr;

	struct refpmu_journal journal;
};

/* The cores of one kind, and the PMU in front of them. */
struct refpmu_device {
	struct pmu pmu;
	const char *name; /* of the PMU, unless that is "cpu", and of its port */
	struct refpmu_caps caps; /* but own_type, which is pmu.type */
	struct refpmu_model_params params;
	struct cpumask supported; /* CPUs of this kind */
	struct refpmu_cpu __percpu *cpus;
	struct refpmu_port port;
	atomic64_t inits; /* calls of event_init and destroy belong to no CPU */
	atomic64_t destroys;
	atomic64_t live; /* events that event_init accepted and destroy has not had */
};

extern struct refpmu_device refpmu_devices[REFPMU_MAX_DEVICES];
extern unsigned int refpmu_devices_count;

static inline struct refpmu_device *to_refpmu(struct pmu *pmu)
{
	return container_of(pmu, struct refpmu_device, pmu);
}

static inline struct refpmu_cpu *refpmu_this_cpu(struct refpmu_device *dev)
{
	return this_cpu_ptr(dev->cpus);
}

/*
 * The part of this CPU in whatever is done to it through any of the PMUs: it has one kind of core.
 * Older kernels let the PMUs of all kinds share a context, and switch and begin transactions by
 * the PMU that the context was made for.
 */
static inline struct refpmu_cpu *refpmu_here(void)
{
	struct refpmu_device *dev = refpmu_devices;

	if (!cpumask_test_cpu(smp_processor_id(), &dev->supported))
		dev++;
	return refpmu_this_cpu(dev);
}

static inline struct refpmu_cpu *refpmu_event_cpu(struct perf_event *event)
{
	return refpmu_this_cpu(to_refpmu(event->pmu));
}

/* module.c: all of it, and again after it has gone; 0, or an error with nothing left behind */
int refpmu_load(void);
void refpmu_unload(void);

/* device.c: one kind of core, from its parameters to a registered PMU and back */
int refpmu_device_setup(struct refpmu_device *dev);
void refpmu_device_teardown(struct refpmu_device *dev);
int refpmu_device_register(struct refpmu_device *dev, bool as_cpu);
void refpmu_device_unregister(struct refpmu_device *dev);
void refpmu_quiesce(struct refpmu_cpu *cpuc);

/* hybrid.c: two kinds of core */
void refpmu_hybrid_describe(struct refpmu_device *dev, unsigned int kind);
bool refpmu_runs_on(struct pmu *pmu, int cpu);

/* hotplug.c: CPUs that come and go */
int refpmu_hotplug_setup(void);
void refpmu_hotplug_teardown(void);

/* uncore.c, trace.c: drivers of their own */
int refpmu_uncore_register(void);
void refpmu_uncore_unregister(void);
int refpmu_trace_register(void);
void refpmu_trace_unregister(void);

/* init.c: opening an event. hw.flags of one: */
#define REFPMU_HW_WIDE 0x1 /* it takes the odd neighbour of its counter too */
#define REFPMU_HW_PRECISE 0x2 /* its samples are made of records */
#define REFPMU_HW_BRANCHES 0x4 /* its samples carry branch records */
#define REFPMU_HW_ATTACHED 0x8 /* between refpmu_attach() and refpmu_detach() */
int refpmu_event_init(struct perf_event *event);

/* pmu.c: the other callbacks, as perf calls them */
extern const struct pmu refpmu_pmu_ops;
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
void refpmu_fixed_flush(struct refpmu_cpu *cpuc);

/* irq.c: from the line to the samples */
extern bool refpmu_pmi_is_nmi;
irqreturn_t refpmu_irq(struct refpmu_cpu *cpuc);
irqreturn_t refpmu_nmi(struct refpmu_cpu *cpuc);
bool refpmu_line(const struct refpmu_cpu *cpuc);
bool refpmu_pending(const struct refpmu_cpu *cpuc);
void refpmu_raise_pmi(struct refpmu_cpu *cpuc);
void refpmu_raise_pmi_in_irq(struct refpmu_cpu *cpuc);
void refpmu_unmask(struct refpmu_cpu *cpuc);
void refpmu_irq_setup(struct refpmu_cpu *cpuc);

/* Keep the handler out until refpmu_unmask(). Nests. */
static inline void refpmu_mask(struct refpmu_cpu *cpuc)
{
	cpuc->masked++;
	barrier();
}

/* nmi.c: the NMI, where there is one */
int refpmu_nmi_setup(void);
void refpmu_nmi_teardown(void);
void refpmu_nmi_send(void);

/* bus.c: the one way from the driver to the registers */
u64 refpmu_bus_read(struct refpmu_cpu *cpuc, u32 reg);
void refpmu_bus_write(struct refpmu_cpu *cpuc, u32 reg, u64 value);

/* clock.c: automatic ticks */
void refpmu_clock_pass(struct refpmu_cpu *cpuc);
void refpmu_clock_arm(struct refpmu_cpu *cpuc);
void refpmu_clock_resume(struct refpmu_cpu *cpuc, u64 now);
void refpmu_clock_mode(struct refpmu_cpu *cpuc, u32 mode);
void refpmu_clock_setup(struct refpmu_cpu *cpuc);

/* Bring the model up to now. On its CPU, interrupts off. */
static inline void refpmu_clock_sync(struct refpmu_cpu *cpuc)
{
	if (cpuc->clock_base)
		refpmu_clock_pass(cpuc);
}

/* sysfs.c */
extern const struct attribute_group *refpmu_attr_groups[];
int refpmu_sysfs_setup(void);
void refpmu_sysfs_teardown(void);

/* log.c: perf has entered a callback: on this CPU, whichever that is. From any context. */
void refpmu_log_device(struct refpmu_device *dev, enum refpmu_call call, u64 flags, u64 event);
void refpmu_log_call(enum refpmu_call call, const struct perf_event *event, u64 flags);

/* The same for callbacks that have interrupts off; @cpuc is this CPU's. */
static inline void refpmu_log_here(struct refpmu_cpu *cpuc, enum refpmu_call call, u64 flags,
				   u64 event)
{
	refpmu_journal_call(&cpuc->journal, call, flags, event);
}

/* stimulus.c: what the port of a core PMU offers */
extern const struct refpmu_port_kind refpmu_stimulus_kinds[];
struct refpmu_journal *refpmu_stimulus_journal(struct refpmu_port *port, unsigned int cpu);

#endif /* REFPMU_GLUE_H */
