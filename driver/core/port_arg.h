/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* What may stand in a request of a stimulus port: decided here, before anything happens. */
#ifndef REFPMU_CORE_PORT_ARG_H
#define REFPMU_CORE_PORT_ARG_H

#include "refpmu_port.h"
#include "uapi/refpmu.h"

/* The argument of a request; each begins with its size and the CPU that is meant. */
union refpmu_port_arg {
	struct {
		__u32 size;
		__s32 cpu;
	} head;
	struct refpmu_info info;
	struct refpmu_pulse pulse;
	struct refpmu_clock clock;
	struct refpmu_advance advance;
	struct refpmu_branches branches;
	struct refpmu_reg reg;
	struct refpmu_line line;
	struct refpmu_inject inject;
	struct refpmu_log log;
	struct refpmu_stats stats;
};

/*
 * 0 if @arg, of which as many bytes are looked at as @cmd says, is well formed; -EINVAL if not,
 * -ENOTTY if @cmd is no REFPMU_IOC_*. Source: uapi/refpmu.h. Whether there is such a CPU, register
 * or piece of user memory is not asked here.
 */
int refpmu_port_check(unsigned int cmd, const union refpmu_port_arg *arg);

/* For a PMU that does not sample: only how many there are can matter, the rest is -EINVAL. */
int refpmu_port_check_plain(const union refpmu_port_arg *arg);

/* 0 if each of the @n branches can happen, -EINVAL if one cannot. */
int refpmu_port_check_entries(const struct refpmu_branch_entry *entries, u32 n);

#endif /* REFPMU_CORE_PORT_ARG_H */
