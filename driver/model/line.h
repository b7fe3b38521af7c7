/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Status and the interrupt line. Private. */
#ifndef REFPMU_MODEL_LINE_H
#define REFPMU_MODEL_LINE_H

#include "commit.h"

/*
 * Set @status; its bits @asserted also assert the line. If the line rises, freeze counters and
 * branch records as DEBUGCTL requires. The change has claimed REFPMU_BLOCK_GLOBAL.
 */
void refpmu_raise_status(const struct refpmu_change *c, u64 status, u64 asserted);

#endif /* REFPMU_MODEL_LINE_H */
