/* SPDX-License-Identifier: Apache-2.0 */
/* The DDR controller of HiSilicon's Kunpeng, as drivers/perf/hisilicon/hisi_uncore_ddrc_pmu.c
 * describes it. */
#include "models/hisi_uncore.h"

static const struct hisi hisi = {.run = 1,
                                 .control = 0xea0,
                                 .count = 0xe70,
                                 .type = 0xe74,
                                 .type_bits = 32,
                                 .counter = 0xe00,
                                 .mask = 0x528,
                                 .status = 0x52c,
                                 .clear = 0x530,
                                 .version = 0x710,
                                 .identifier = 0x30};

HISI_MODEL("hisi_ddrc", 48);
