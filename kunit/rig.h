/* SPDX-License-Identifier: GPL-2.0-only */
/* What the suites of the driver share: a CPU of their own, events on it, ticks, and callbacks. */
#ifndef REFPMU_KUNIT_RIG_H
#define REFPMU_KUNIT_RIG_H

#include <kunit/test.h>

#include "glue/refpmu.h"
#include "keeps.h"

/* The device that the suites drive, and this CPU's part of it. */
#define rig_device (&refpmu_devices[0])
#define RIG_CPU 0

/* A case is pinned: it stays where it is, though it may be preempted. */
static inline struct refpmu_cpu *rig_cpu(void)
{
	return raw_cpu_ptr(rig_device->cpus);
}

#define RIG_EVENTS 16

/* Events of the device that happen only when a case says so; general counters count them. */
#define RIG_PULSED 0x01d0
#define RIG_PULSED_TOO 0x01d1

/* What the overflow handler was given of one sample; what the sample does not have is 0. */
#define RIG_BRANCHES 16
struct rig_sample {
	const struct perf_event *event;
	u64 period;
	u64 count; /* of the event, by then */
	u64 ip;
	u64 ax; /* or whatever register is the first of the device's */
	u64 addr;
	u64 time;
	u64 source;
	u64 weight;
	bool exact; /* the ip is that of the event */
	bool in_nmi;
	bool in_interrupt; /* an NMI or a hard interrupt */
	u64 n_branches;
	u64 branch_index;
	struct perf_branch_entry branches[RIG_BRANCHES];
};

#define RIG_SEEN 16

struct rig {
	struct refpmu_cpu *cpuc; /* of RIG_CPU, which runs the case; its clock is manual */
	struct perf_event *events[RIG_EVENTS]; /* released at the end of the case */
	unsigned int n_events;
	/* What the overflow handler was told. */
	unsigned int samples;
	u64 periods; /* their sum */
	u64 count; /* of the event, at the last sample */
	struct rig_sample seen[RIG_SEEN]; /* the first ones */
	void (*on_sample)(struct rig *rig, struct perf_event *event); /* may be NULL */
};

/* The suite's .init and .exit. */
int rig_init(struct kunit *test);
void rig_exit(struct kunit *test);

/* The attribute of an event of this PMU that is open but off. */
struct perf_event_attr rig_attr(u64 config);

/* Opens a kernel counter on RIG_CPU; the case fails if it cannot be opened. */
struct perf_event *rig_open(struct kunit *test, struct perf_event_attr *attr);
struct perf_event *rig_open_pulsed(struct kunit *test);

/* Opens an event of @config that samples every @period events. */
struct perf_event *rig_open_sampling(struct kunit *test, u64 config, u64 period);

/* Lets it happen as the port does: every overflow is served. Interrupts on. */
void rig_stimulate(struct kunit *test, const struct refpmu_stimulus *stimulus);

/* The same for @n events of @code, in the kernel. */
void rig_pulse(struct kunit *test, u16 code, u64 n);

/* The same with interrupts off: nobody serves, and the line stays up. */
void rig_tick(u16 code, u64 n);

/* Lets one branch be taken; nobody serves what that leads to. On any occasion. */
void rig_branch(const struct refpmu_branch *branch, enum refpmu_privilege privilege);

u64 rig_reg(u32 reg);
void rig_set_reg(u32 reg, u64 value);

/* Callbacks as perf calls them: the PMU is off around them. Interrupts off. */
int rig_add(struct perf_event *event, int flags);
void rig_del(struct perf_event *event);
void rig_start(struct perf_event *event, int flags);
void rig_stop(struct perf_event *event, int flags);
u64 rig_read(struct perf_event *event);

/* The count as it stands, without a read. */
u64 rig_count(const struct perf_event *event);

#endif /* REFPMU_KUNIT_RIG_H */
