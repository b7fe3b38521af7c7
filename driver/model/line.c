// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Status and the interrupt line.
 * Source: Intel SDM vol. 3, "IA32_PERF_GLOBAL_STATUS MSR", "Freezing LBR and Performance Counters
 * on PMI".
 */
#include "line.h"

void refpmu_raise_status(const struct refpmu_change *c, u64 status, u64 asserted)
{
	struct refpmu_global *global = refpmu_global(c);
	const u64 debugctl = READ_ONCE(refpmu_recording(c)->debugctl);

	global->status |= status;
	if (!global->asserted && asserted) {
		if (debugctl & REFPMU_DEBUGCTL_FREEZE_PERFMON)
			global->status |= REFPMU_STATUS_CTR_FROZEN;
		if (debugctl & REFPMU_DEBUGCTL_FREEZE_LBRS)
			global->status |= REFPMU_STATUS_LBR_FROZEN;
	}
	global->asserted |= asserted;
}

bool refpmu_model_line(const struct refpmu_model *m)
{
	struct refpmu_change look;
	bool up;

	do {
		look = refpmu_view(m);
		up = READ_ONCE(refpmu_global(&look)->asserted) != 0;
	} while (!refpmu_view_is_current(&look));
	return up;
}

void refpmu_model_drop_line(struct refpmu_model *m)
{
	refpmu_change_word(m, REFPMU_BLOCK_GLOBAL, REFPMU_WORD(global, asserted), 0);
}
