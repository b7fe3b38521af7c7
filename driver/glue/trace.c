// SPDX-License-Identifier: GPL-2.0-only
/* The place of refpmu_trace, which is not here yet. */
#include "refpmu.h"

int refpmu_trace_register(void)
{
	return 0;
}

void refpmu_trace_unregister(void)
{
}
