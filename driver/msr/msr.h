/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the modelled monitor behind the registers of x86 share. */
#ifndef REFPMU_MSR_H
#define REFPMU_MSR_H

#include "glue/refpmu.h"
#include "numbers.h"

/* The processor that the command line asked for. */
struct refpmu_msr_processor {
	const char *name;
	enum refpmu_msr_kind kind;
	struct refpmu_model_params params;
};

extern struct refpmu_msr_processor refpmu_msr_processor;

/*
 * One CPU's monitor, and what the port and the clock of the reference PMU keep about it. What they
 * share with its driver stays as it is.
 */
DECLARE_PER_CPU(struct refpmu_cpu, refpmu_msr_cpus);

/* device.c: all of them */
extern struct refpmu_device refpmu_msr_device;

/* watch.c: from now on perf calls @pmu by way of the journals; 0 or a negative errno */
int refpmu_msr_watch(struct pmu *pmu);

/* bus.c: register @reg of this CPU's model, as the driver reads and writes it; 0 or -EINVAL */
int refpmu_msr_read(u32 reg, u64 *value);
int refpmu_msr_write(u32 reg, u64 value);

/* nmi.c: the interrupt of the monitor */
int refpmu_msr_nmi_setup(void);
void refpmu_msr_acknowledged(void);

/* hooks.c: whether the command line asked for any of this */
bool refpmu_msr_active(void);

#endif /* REFPMU_MSR_H */
