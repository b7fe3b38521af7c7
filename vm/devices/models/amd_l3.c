/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The L3 cache of AMD's family 17h: six counters, each for the slices and the threads in two masks
 * of its selector. Without any slice or thread it counts nothing.
 */
#include "amd_uncore.h"

static const struct amd amd = {
    .msr = 0x230, .rdpmc = 10, .counters = 6, .slices = 0xfull << 48, .threads = 0xffull << 56};

AMD_MODEL("amd_l3", 6);
