/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Check the argument of a stimulus port request before the request has any effect. */
#ifndef REFPMU_CORE_PORT_ARG_H
#define REFPMU_CORE_PORT_ARG_H

#include "refpmu_port.h"
#include "uapi/refpmu.h"

/* The argument of a request. Each one begins with its size and the number of a CPU. */
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
 * Check the argument of a request. The function reads as many bytes of @arg as @cmd defines. It
 * does not check whether the CPU, the register or the user memory exists. Return 0, -EINVAL if @arg
 * is malformed, or -ENOTTY if @cmd is not a REFPMU_IOC_*. Source: uapi/refpmu.h.
 */
int refpmu_port_check(unsigned int cmd, const union refpmu_port_arg *arg);

/*
 * Check a pulse for a PMU that does not sample. Only the number of pulses may be set; every other
 * field that is nonzero is -EINVAL.
 */
int refpmu_port_check_plain(const union refpmu_port_arg *arg);

/* Check @n branches. Return 0, or -EINVAL if the device cannot record one of them. */
int refpmu_port_check_entries(const struct refpmu_branch_entry *entries, u32 n);

#endif /* REFPMU_CORE_PORT_ARG_H */
