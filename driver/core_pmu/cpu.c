// SPDX-License-Identifier: GPL-2.0-only
/* The devices of the module, one for each core type. module.c describes them at load. */
#include "cpu.h"

struct refpmu_device refpmu_devices[REFPMU_MAX_DEVICES];
unsigned int refpmu_devices_count;
