/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared code of the driver's suites: a CPU with events, stimuli, and calls of callbacks. */
#ifndef REFPMU_KUNIT_RIG_H
#define REFPMU_KUNIT_RIG_H

#include <kunit/test.h>

#include "core_pmu/cpu.h"
#include "verifies.h"

/* The device of the suites, and their CPU. */
#define rig_device (&refpmu_devices[0])
#define RIG_CPU 0

/* Return the state of this CPU. A case is bound to its CPU, but may be preempted. */
static inline struct refpmu_cpu *rig_cpu(void)
{
	return raw_cpu_ptr(rig_device->cpus);
}

#define RIG_EVENTS 16

/* Events that happen only when a case generates them; general counters count them. */
#define RIG_PULSED 0x01d0
#define RIG_PULSED_TOO 0x01d1

/* Data that perf's overflow callback received with a sample. Missing fields are 0. */
#define RIG_BRANCHES 16
struct rig_sample {
	const struct perf_event *event;
	u64 period;
	u64 count; /* count of the event at that time */
	u64 ip;
	u64 ax; /* or the register that is the device's first one */
	u64 addr;
	u64 time;
	u64 source;
	u64 weight;
	bool exact; /* ip is the exact address of the event */
	bool in_nmi;
	bool in_interrupt; /* an NMI or a hard interrupt */
	u64 n_branches;
	u64 branch_index;
	struct perf_branch_entry branches[RIG_BRANCHES];
};

#define RIG_SEEN 16

struct rig {
	struct refpmu_cpu *cpuc; /* state of RIG_CPU, which runs the case; its clock is manual */
	struct perf_event *events[RIG_EVENTS]; /* released at the end of the case */
	unsigned int n_events;
	/* Totals of all samples. */
	unsigned int samples;
	u64 periods; /* sum of the periods */
	u64 count; /* count of the event at the last sample */
	struct rig_sample seen[RIG_SEEN]; /* the first samples */
	void (*on_sample)(struct rig *rig, struct perf_event *event); /* may be NULL */
};

/* For .init and .exit of a suite. */
int rig_init(struct kunit *test);
void rig_exit(struct kunit *test);

/* Return the attr of an event of this PMU that is opened disabled. */
struct perf_event_attr rig_attr(u64 config);

/* Opens a kernel counter on RIG_CPU; the case fails if it cannot be opened. */
struct perf_event *rig_open(struct kunit *test, struct perf_event_attr *attr);
struct perf_event *rig_open_pulsed(struct kunit *test);

/* Open an event of @config with the sample period @period. */
struct perf_event *rig_open_sampling(struct kunit *test, u64 config, u64 period);

/* Generate events like the stimulus port: every overflow is handled. Interrupts on. */
void rig_stimulate(struct kunit *test, const struct refpmu_stimulus *stimulus);

/* Generate @n events of @code in the kernel, and handle the overflows. */
void rig_pulse(struct kunit *test, u16 code, u64 n);

/*
 * Generate @n events of @code with interrupts off. No overflow is handled, and the line stays up.
 */
void rig_tick(u16 code, u64 n);

/* Generate a branch in any context. No overflow is handled. */
void rig_branch(const struct refpmu_branch *branch, enum refpmu_privilege privilege);

u64 rig_reg(u32 reg);
void rig_set_reg(u32 reg, u64 value);

/* Call the callbacks like perf: the PMU is disabled around them. Interrupts off. */
int rig_add(struct perf_event *event, int flags);
void rig_del(struct perf_event *event);
void rig_start(struct perf_event *event, int flags);
void rig_stop(struct perf_event *event, int flags);
u64 rig_read(struct perf_event *event);

/* Return the current count, without calling read. */
u64 rig_count(const struct perf_event *event);

#endif /* REFPMU_KUNIT_RIG_H */
