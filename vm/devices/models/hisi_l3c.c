/* SPDX-License-Identifier: Apache-2.0 */
/* The level 3 cache of HiSilicon's Kunpeng, as drivers/perf/hisilicon/hisi_uncore_l3c_pmu.c
 * describes it. */
#include "models/hisi_uncore.h"

static const struct hisi hisi = {.run = 1 << 16,
                                 .control = 0x408,
                                 .count = 0x1c00,
                                 .type = 0x1d00,
                                 .type_bits = 8,
                                 .counter = 0x1e00,
                                 .mask = 0x800,
                                 .status = 0x808,
                                 .clear = 0x80c,
                                 .version = 0x1cf0,
                                 .identifier = 0x30};

HISI_MODEL("hisi_l3c", 64);
