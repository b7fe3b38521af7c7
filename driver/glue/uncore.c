// SPDX-License-Identifier: GPL-2.0-only
/* The place of refpmu_uncore, which is not here yet. */
#include "refpmu.h"

int refpmu_uncore_register(void)
{
	return 0;
}

void refpmu_uncore_unregister(void)
{
}
