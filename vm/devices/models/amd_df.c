/* SPDX-License-Identifier: Apache-2.0 */
/* The data fabric of AMD's family 17h: four counters. */
#include "amd_uncore.h"

static const struct amd amd = {.msr = 0x240, .rdpmc = 6, .counters = 4};

AMD_MODEL("amd_df", 4);
