/* SPDX-License-Identifier: Apache-2.0 */
/* The super L3 link controller of HiSilicon's Kunpeng, as
 * drivers/perf/hisilicon/hisi_uncore_sllc_pmu.c describes it. */
#include "models/hisi_uncore.h"

static const struct hisi hisi = {.run = 1,
                                 .control = 0x1c00,
                                 .count = 0x1c14,
                                 .type = 0x1c18,
                                 .type_bits = 8,
                                 .counter = 0x1d00,
                                 .mask = 0x814,
                                 .status = 0x818,
                                 .clear = 0x81c,
                                 .version = 0x1cf0,
                                 .identifier = 0x30};

HISI_MODEL("hisi_sllc", 64);
