/* SPDX-License-Identifier: Apache-2.0 */
/* The coherency protocol agent of HiSilicon's Kunpeng, as
 * drivers/perf/hisilicon/hisi_uncore_cpa_pmu.c describes it. */
#include "models/hisi_uncore.h"

static const struct hisi hisi = {.run = 1,
                                 .control = 0x1c00,
                                 .count = 0x1c04,
                                 .type = 0x1c80,
                                 .type_bits = 8,
                                 .counter = 0x1d00,
                                 .mask = 0x1c70,
                                 .status = 0x1c78,
                                 .clear = 0x1c7c,
                                 .version = 0x1cf0,
                                 .identifier = 0x30};

HISI_MODEL("hisi_cpa", 64);
