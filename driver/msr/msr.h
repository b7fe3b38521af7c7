/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations for the files of the modeled monitor behind the registers of x86. */
#ifndef REFPMU_MSR_H
#define REFPMU_MSR_H

#include "compat/compat.h"
#include "numbers.h"
#include "port/clock.h"
#include "port/clock_timer.h"
#include "port/interrupt.h"
#include "port/log.h"
#include "port/stimulus.h"

/* The processor that the kernel command line selects. */
struct refpmu_msr_processor {
	const char *name;
	enum refpmu_msr_kind kind;
	struct refpmu_model_params params;
};

extern struct refpmu_msr_processor refpmu_msr_processor;

/*
 * The monitor of each CPU, and the state of its port and clock, which are those of the reference
 * PMU. Fields of struct refpmu_cpu that only the reference driver uses remain unused.
 */
DECLARE_PER_CPU(struct refpmu_cpu, refpmu_msr_cpus);

/* device.c: the device of all CPUs */
extern struct refpmu_device refpmu_msr_device;

/* watch.c: log perf's calls of @pmu from now on; returns 0 or a negative errno */
int refpmu_msr_watch(struct pmu *pmu);

/* bus.c: access register @reg of this CPU's model, as the driver does; returns 0 or -EINVAL */
int refpmu_msr_read(u32 reg, u64 *value);
int refpmu_msr_write(u32 reg, u64 value);

/* nmi.c: the interrupt of the monitor */
int refpmu_msr_nmi_setup(void);
void refpmu_msr_acknowledged(void);

/* hooks.c: whether the kernel command line has enabled the modeled monitor */
bool refpmu_msr_active(void);

#endif /* REFPMU_MSR_H */
