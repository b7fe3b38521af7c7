// SPDX-License-Identifier: GPL-2.0-only
/* The interrupt as an NMI, where there is no way to raise one. */
#include "refpmu.h"

int refpmu_nmi_setup(void)
{
	return -EOPNOTSUPP;
}

void refpmu_nmi_teardown(void)
{
}

void refpmu_nmi_send(void)
{
}
