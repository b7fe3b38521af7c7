/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Status and the interrupt line. Private. */
#ifndef REFPMU_MODEL_LINE_H
#define REFPMU_MODEL_LINE_H

#include "commit.h"

/*
 * Set @status, of which @asserted hold the line up. If the line rises by it, freeze what DEBUGCTL
 * says. The change has claimed REFPMU_BLOCK_GLOBAL.
 */
void refpmu_raise_status(const struct refpmu_change *c, u64 status, u64 asserted);

#endif /* REFPMU_MODEL_LINE_H */
