/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations that the files of a core PMU share: device, per-CPU state, functions of each file.
 */
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
#include "port/journal.h"
#include "model/model.h"
#include "port/port.h"
#include "precise.h"
#include "uapi/refpmu.h"

/*
 * Limit of handler rounds, after which the device counts as broken; limit of handler runs for one
 * interrupt, after which the line counts as an interrupt storm.
 */
#define REFPMU_IRQ_ROUNDS 32
#define REFPMU_IRQ_RUNS 64

/* Maximum number of core types in a machine. */
#define REFPMU_MAX_DEVICES 2

/* The cause of the last interrupt. Samples get their data from it. */
struct refpmu_cause {
	struct refpmu_origin origin; /* if its ip is 0: the ip of @regs, or of the user task */
	struct pt_regs regs; /* registers of the CPU at that time */
};

/*
 * One CPU of a device: its registers, and the driver's state. Only code on that CPU uses it, with
 * interrupts off, so there is no lock. An NMI can still arrive. While the PMU is disabled or the
 * handler is masked, the handler returns at once and is run again later. Fields that the handler
 * shares with code that does not mask it are written by single instructions.
 */
struct refpmu_cpu {
	struct refpmu_device *dev;
	int cpu;
	struct refpmu_model model; /* the driver accesses it only through the bus */

	/*
	 * Events in the order in which they were added. Those of an open transaction have no
	 * counter.
	 */
	struct perf_event *events[REFPMU_MAX_COUNTERS];
	unsigned int n_events;
	unsigned int n_before_txn;
	unsigned int txn; /* PERF_PMU_TXN_* of the open transaction, or 0 */

	/* Counters. */
	struct perf_event *owner[REFPMU_MAX_COUNTERS];
	u64 used; /* counters that have an owner */
	unsigned int running; /* number of events that have a counter and are not stopped */
	u64 fixed_ctrl; /* value that the register should have */
	u64 fixed_written; /* value that was last written to the register */
	/* GLOBAL_STATUS when the PMU was disabled, without the bits that were acknowledged since */
	u64 status;
	unsigned int disable_depth;
	unsigned int masked; /* the handler is masked (refpmu_mask()); nests */

	/* Work areas of the scheduler, too large for the stack. */
	struct refpmu_want wants[REFPMU_MAX_COUNTERS];
	struct refpmu_place places[REFPMU_MAX_COUNTERS];

	/* The interrupt line. */
	struct irq_work pmi; /* the interrupt, or the work that remains after an NMI */
	bool raised; /* an interrupt is pending */
	bool latched; /* an interrupt arrived while the handler was masked */
	unsigned int runs; /* handler runs since the line was raised */
	bool held; /* the stimulus port holds the line back */
	bool serving; /* the handler is running; the clock is stopped */
	struct refpmu_cause cause;

	/* The automatic clock. */
	struct hrtimer timer;
	u64 timer_due; /* local_clock() time at which it fires, if it is queued */
	bool arming; /* the timer function is running, and arms the timer when it is done */
	/* local_clock() time up to which the model has been advanced; 0: the clock is stopped */
	u64 clock_base;
	u32 clock_mode; /* REFPMU_CLOCK_* */

	struct refpmu_precise precise;
	struct refpmu_lbr lbr;

	struct refpmu_journal journal;
};

/* The CPUs of one core type, and their PMU. */
struct refpmu_device {
	struct pmu pmu;
	const char *name; /* name of the port, and of the PMU unless that is "cpu" */
	struct refpmu_caps caps; /* without own_type, which is pmu.type */
	struct refpmu_model_params params;
	struct cpumask supported; /* CPUs of this core type */
	struct refpmu_cpu __percpu *cpus;
	struct refpmu_port port;
	atomic64_t inits; /* event_init and destroy are not tied to a CPU */
	atomic64_t destroys;
	atomic64_t live; /* events that event_init accepted and that are not destroyed yet */
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
 * Return the state of the current CPU. Callbacks that get a PMU must use this, not the PMU: each
 * CPU has one core type, but older kernels let the PMUs of all core types share a context. They
 * call these callbacks with the PMU for which the context was made.
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

/* module.c: load and unload everything, repeatedly; a failed load leaves no state behind */
int refpmu_load(void);
void refpmu_unload(void);

/* device.c: one core type, from its parameters to a registered PMU and back */
int refpmu_device_setup(struct refpmu_device *dev);
void refpmu_device_teardown(struct refpmu_device *dev);
int refpmu_device_register(struct refpmu_device *dev, bool as_cpu);
void refpmu_device_unregister(struct refpmu_device *dev);
void refpmu_quiesce(struct refpmu_cpu *cpuc);

/* hybrid.c: two core types */
void refpmu_hybrid_describe(struct refpmu_device *dev, unsigned int kind);
bool refpmu_runs_on(struct pmu *pmu, int cpu);

/* hotplug.c: CPU hotplug */
int refpmu_hotplug_setup(void);
void refpmu_hotplug_teardown(void);

/* uncore.c, trace.c: separate drivers */
int refpmu_uncore_register(void);
void refpmu_uncore_unregister(void);
int refpmu_trace_register(void);
void refpmu_trace_unregister(void);

/* init.c: opening an event. Flags in hw.flags: */
#define REFPMU_HW_WIDE 0x1 /* also uses the odd counter that follows its counter */
#define REFPMU_HW_PRECISE 0x2 /* its samples are made from records */
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

/* schedule.c: assignment of counters to events */
int refpmu_schedule(struct refpmu_cpu *cpuc);
int refpmu_validate_group(struct perf_event *event);
void refpmu_release(struct refpmu_cpu *cpuc, struct perf_event *event);

/* counter.c: one event on its counter */
void refpmu_update(struct refpmu_cpu *cpuc, struct perf_event *event);
bool refpmu_set_period(struct refpmu_cpu *cpuc, struct perf_event *event);
void refpmu_do(struct refpmu_cpu *cpuc, struct perf_event *event, enum refpmu_op op);
void refpmu_ack(struct refpmu_cpu *cpuc, u64 status);
void refpmu_fixed_flush(struct refpmu_cpu *cpuc);

/* irq.c: the interrupt and the overflow handler */
extern bool refpmu_pmi_is_nmi;
irqreturn_t refpmu_irq(struct refpmu_cpu *cpuc);
irqreturn_t refpmu_nmi(struct refpmu_cpu *cpuc);
bool refpmu_line(const struct refpmu_cpu *cpuc);
bool refpmu_pending(const struct refpmu_cpu *cpuc);
void refpmu_raise_pmi(struct refpmu_cpu *cpuc);
void refpmu_raise_pmi_in_irq(struct refpmu_cpu *cpuc);
void refpmu_unmask(struct refpmu_cpu *cpuc);
void refpmu_irq_setup(struct refpmu_cpu *cpuc);

/* Mask the handler until refpmu_unmask(). Calls nest. */
static inline void refpmu_mask(struct refpmu_cpu *cpuc)
{
	cpuc->masked++;
	barrier();
}

/* nmi.c: the NMI, if the machine has one */
int refpmu_nmi_setup(void);
void refpmu_nmi_teardown(void);
void refpmu_nmi_send(void);

/* bus.c: the only path from the driver to the registers */
u64 refpmu_bus_read(struct refpmu_cpu *cpuc, u32 reg);
void refpmu_bus_write(struct refpmu_cpu *cpuc, u32 reg, u64 value);

/* clock.c: the automatic clock */
void refpmu_clock_pass(struct refpmu_cpu *cpuc);
void refpmu_clock_arm(struct refpmu_cpu *cpuc);
void refpmu_clock_resume(struct refpmu_cpu *cpuc, u64 now);
void refpmu_clock_mode(struct refpmu_cpu *cpuc, u32 mode);
void refpmu_clock_setup(struct refpmu_cpu *cpuc);

/* Advance the model to the current time. On its own CPU, interrupts off. */
static inline void refpmu_clock_sync(struct refpmu_cpu *cpuc)
{
	if (cpuc->clock_base)
		refpmu_clock_pass(cpuc);
}

/* sysfs.c */
extern const struct attribute_group *refpmu_attr_groups[];
int refpmu_sysfs_setup(void);
void refpmu_sysfs_teardown(void);

/* log.c: log a callback on the current CPU, from any context */
void refpmu_log_device(struct refpmu_device *dev, enum refpmu_call call, u64 flags, u64 event);
void refpmu_log_call(enum refpmu_call call, const struct perf_event *event, u64 flags);

/* Log a callback that runs with interrupts off. @cpuc is the current CPU's. */
static inline void refpmu_log_here(struct refpmu_cpu *cpuc, enum refpmu_call call, u64 flags,
				   u64 event)
{
	refpmu_journal_call(&cpuc->journal, call, flags, event);
}

/* stimulus.c: the requests of a core PMU's port */
extern const struct refpmu_port_kind refpmu_stimulus_kinds[];
struct refpmu_journal *refpmu_stimulus_journal(struct refpmu_port *port, unsigned int cpu);

#endif /* REFPMU_GLUE_H */
