/* SPDX-License-Identifier: Apache-2.0 */
/* The home agent of HiSilicon's Kunpeng, as drivers/perf/hisilicon/hisi_uncore_hha_pmu.c
 * describes it. */
#include "models/hisi_uncore.h"

static const struct hisi hisi = {.run = 1,
                                 .control = 0x1e00,
                                 .count = 0x1e04,
                                 .type = 0x1e80,
                                 .type_bits = 8,
                                 .counter = 0x1f00,
                                 .mask = 0x804,
                                 .status = 0x808,
                                 .clear = 0x80c,
                                 .version = 0x1cf0,
                                 .identifier = 0x30};

HISI_MODEL("hisi_hha", 64);
