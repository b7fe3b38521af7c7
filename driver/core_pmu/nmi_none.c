// SPDX-License-Identifier: GPL-2.0-only
/* NMI functions for architectures on which the driver cannot raise an NMI. */
#include <linux/errno.h>

#include "nmi.h"

int refpmu_nmi_setup(void)
{
	return -EOPNOTSUPP;
}

void refpmu_nmi_teardown(void)
{
}
