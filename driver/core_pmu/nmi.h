/* SPDX-License-Identifier: GPL-2.0-only */
/* The handler of NMIs, if the machine has them. */
#ifndef REFPMU_CORE_PMU_NMI_H
#define REFPMU_CORE_PMU_NMI_H

int refpmu_nmi_setup(void);
void refpmu_nmi_teardown(void);

#endif /* REFPMU_CORE_PMU_NMI_H */
