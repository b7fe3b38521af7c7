/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a core PMU: of the device, of each of its CPUs, and flags of an event. */
#ifndef REFPMU_CORE_PMU_CPU_H
#define REFPMU_CORE_PMU_CPU_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

#include "core/branch.h"
#include "core/config.h"
#include "core/constraint.h"
#include "model/model.h"
#include "port/habit.h"
#include "port/journal.h"
#include "port/port.h"
#include "uapi/refpmu_work.h"

/*
 * Limit of handler rounds, after which the device counts as broken; limit of handler runs for one
 * interrupt, after which the line counts as an interrupt storm.
 */
#define REFPMU_IRQ_ROUNDS 32
#define REFPMU_IRQ_RUNS 64

/* Maximum number of core types in a machine. */
#define REFPMU_MAX_DEVICES 2

/* Flags in hw.flags, which event_init sets. */
#define REFPMU_HW_WIDE 0x1 /* also uses the odd counter that follows its counter */
#define REFPMU_HW_PRECISE 0x2 /* its samples are made from records */
#define REFPMU_HW_BRANCHES 0x4 /* its samples carry branch records */
#define REFPMU_HW_ATTACHED 0x8 /* between refpmu_attach() and refpmu_detach() */

/* The cause of the last interrupt. Samples get their data from it. */
struct refpmu_cause {
	struct refpmu_origin origin; /* if its ip is 0: the ip of @regs, or of the user task */
	struct pt_regs regs; /* registers of the CPU at that time */
};

/* Memory that the device writes to: the DS area and the record buffer. */
struct refpmu_precise_memory;

struct refpmu_precise {
	struct refpmu_precise_memory *memory; /* NULL: the device has no records */
	u64 enabled; /* counters that write records, as in PEBS_ENABLE */
	u64 reloaded; /* counters that the device reloads with a whole period */
	u64 prompt; /* enabled counters whose samples cannot wait in the buffer */
	u64 data_cfg;
	bool draining;
	u32 left[REFPMU_MAX_COUNTERS]; /* records of each counter that remain in this drain */
};

struct refpmu_lbr {
	unsigned int users; /* number of attached events with branch records */
	u64 select; /* LBR_SELECT, the same for all users */
	u64 index; /* index of the newest entry at the last read */
	unsigned int n;
	struct refpmu_pebs_lbr raw[REFPMU_MAX_LBR]; /* newest first */
	struct refpmu_branch_sample filtered[REFPMU_MAX_LBR];
	/* The layout of struct perf_branch_stack, with space for its entries. */
	struct {
		u64 nr;
		u64 hw_idx;
		struct perf_branch_entry entries[REFPMU_MAX_LBR];
	} stack;
};

/* Counts of executed work, by event and privilege. */
struct refpmu_work_counts {
	u64 n[REFPMU_WORK_EVENTS][2];
};

/* The work clock of a CPU. */
struct refpmu_work {
	const u64 *counts; /* block of this CPU on the work page; NULL: the clock counts time */
	u64 events; /* set of the events that the page has */
	unsigned int shift; /* an instruction takes about 1 << shift nanoseconds */
	struct refpmu_work_counts passed; /* work that the model has received */
	bool busy; /* the model is receiving work */
	struct refpmu_stimulus *rest; /* the part of it that the model has not received; or NULL */
	bool in_timer; /* the timer's handler is running */
	u64 armed_for; /* user instructions for which it has set the next timer; or 0 */
	u64 armed_user; /* those before it */
	u64 overhead; /* estimated kernel instructions that come first */
	struct refpmu_habit_state habit;
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
	bool line_held; /* the stimulus port holds the line back */
	bool in_handler; /* the handler is running; the clock is stopped */
	struct refpmu_cause cause;

	/* The automatic clock. */
	struct hrtimer timer;
	u64 timer_due; /* local_clock() time at which it fires, if it is queued */
	bool arming; /* the timer function is running, and arms the timer when it is done */
	/*
	 * local_clock() time up to which the model has been advanced; 0: the clock is stopped. The
	 * work clock sets it to 1 while it runs.
	 */
	u64 clock_base;
	u32 clock_mode; /* REFPMU_CLOCK_* */
	struct refpmu_work work;

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

/* Return true while the line is up and not held back, by the stimulus port or a habit. */
static inline bool refpmu_line(const struct refpmu_cpu *cpuc)
{
	return refpmu_model_line(&cpuc->model) && !cpuc->line_held && !cpuc->work.habit.skid;
}

/* Return true while an interrupt, or work that belongs to it, is pending. */
static inline bool refpmu_pending(const struct refpmu_cpu *cpuc)
{
	return READ_ONCE(cpuc->raised) || irq_work_is_busy((struct irq_work *)&cpuc->pmi);
}

#endif /* REFPMU_CORE_PMU_CPU_H */
