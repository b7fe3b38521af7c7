// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Check the argument of a stimulus port request before the request has any effect. */
#include "port_arg.h"

#include "../model/model.h"
#include "../model/registers.h"

#define MAX_16_BITS 0xffff
#define BRANCH_FLAGS (REFPMU_BRANCH_MISPREDICTED | REFPMU_BRANCH_IN_TX | REFPMU_BRANCH_ABORT)

static bool pulse_is_valid(const struct refpmu_pulse *pulse)
{
	return !pulse->reserved && pulse->event <= MAX_16_BITS &&
	       pulse->privilege <= REFPMU_PRIV_KERNEL && pulse->per_pulse <= REFPMU_WIDE_PAIR &&
	       pulse->latency <= MAX_16_BITS;
}

static bool is_valid(unsigned int cmd, const union refpmu_port_arg *arg)
{
	switch (cmd) {
	case REFPMU_IOC_PULSE:
		return pulse_is_valid(&arg->pulse);
	case REFPMU_IOC_CLOCK:
		return !arg->clock.reserved && arg->clock.mode <= REFPMU_CLOCK_MANUAL;
	case REFPMU_IOC_ADVANCE:
		return arg->advance.privilege <= REFPMU_PRIV_KERNEL;
	case REFPMU_IOC_REG:
		return arg->reg.write <= 1;
	case REFPMU_IOC_LINE:
		return !arg->line.reserved && arg->line.hold <= 1;
	case REFPMU_IOC_BRANCHES:
		return !arg->branches.reserved && arg->branches.count <= REFPMU_BRANCHES_MAX;
	default:
		return true;
	}
}

static bool is_request(unsigned int cmd)
{
	switch (cmd) {
	case REFPMU_IOC_RESET:
	case REFPMU_IOC_INFO:
	case REFPMU_IOC_PULSE:
	case REFPMU_IOC_CLOCK:
	case REFPMU_IOC_ADVANCE:
	case REFPMU_IOC_REG:
	case REFPMU_IOC_LINE:
	case REFPMU_IOC_INJECT:
	case REFPMU_IOC_LOG:
	case REFPMU_IOC_STATS:
	case REFPMU_IOC_BRANCHES:
		return true;
	default:
		return false;
	}
}

int refpmu_port_check(unsigned int cmd, const union refpmu_port_arg *arg)
{
	const size_t size = _IOC_SIZE(cmd);

	if (!is_request(cmd))
		return -ENOTTY;
	if (size && arg->head.size != size)
		return -EINVAL;
	return is_valid(cmd, arg) ? 0 : -EINVAL;
}

int refpmu_port_check_plain(const union refpmu_port_arg *arg)
{
	const struct refpmu_pulse *pulse = &arg->pulse;

	return pulse->per_pulse > 1 || pulse->skid || pulse->latency || pulse->source ||
		pulse->response || pulse->regs ? -EINVAL : 0;
}

int refpmu_port_check_entries(const struct refpmu_branch_entry *entries, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		const struct refpmu_branch_entry *entry = &entries[i];

		if (entry->kind >= REFPMU_BRANCH_MAX || entry->flags & ~BRANCH_FLAGS ||
		    entry->cycles > MAX_16_BITS || entry->privilege > REFPMU_PRIV_KERNEL)
			return -EINVAL;
	}
	return 0;
}
