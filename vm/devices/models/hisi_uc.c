/* SPDX-License-Identifier: Apache-2.0 */
/* The unified cache of HiSilicon's Kunpeng, as drivers/perf/hisilicon/hisi_uncore_uc_pmu.c
 * describes it. */
#include "models/hisi_uncore.h"

static const struct hisi hisi = {.run = 1 << 26,
                                 .control = 0x1c00,
                                 .count = 0x1c00,
                                 .type = 0x1d00,
                                 .type_bits = 8,
                                 .counter = 0x1e00,
                                 .mask = 0x800,
                                 .status = 0x808,
                                 .clear = 0x80c,
                                 .version = 0x1cf0,
                                 .identifier = 0x40};

HISI_MODEL("hisi_uc", 64);
