/* SPDX-License-Identifier: GPL-2.0-only */
/* Load and unload everything, repeatedly; a failed load leaves no state behind. */
#ifndef REFPMU_MODULE_H
#define REFPMU_MODULE_H

int refpmu_load(void);
void refpmu_unload(void);

#endif /* REFPMU_MODULE_H */
