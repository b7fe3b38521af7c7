/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PCIe root complex of Marvell's Odyssey: a free running counter of 64 bits for each event,
 * without controls and without an interrupt. Registers as drivers/perf/marvell_pem_pmu.c (Linux
 * 6.13) and Documentation/admin-guide/perf/mrvl-pem-pmu.rst describe them. The code of an event is
 * its id, which is the number of its counter.
 */
#include "plugin/model.h"

static const uint16_t places[] = {
    0x0,   0x8,   0x10,  0x100,  0x108,  0x110,  0x200,  0x300,  0x400,
    0x408, 0x500, 0x508, 0x510,  0x600,  0x608,  0x610,  0x700,  0x800,
    0x900, 0x908, 0x910, 0x2d18, 0x2d20, 0x2d28, 0x2d30, 0x2d38, 0x2d40,
};
enum { COUNTERS = sizeof(places) / sizeof(places[0]) };

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  (void)d;
  return code == i;
}

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  (void)size;
  for (unsigned i = 0; i < COUNTERS; i++)
    if (places[i] == at) return read_counter(d, i);
  return 0;
}

const struct model model = {.name = "marvell_pem",
                            .size = 0x3000,
                            .counters = COUNTERS,
                            .width = 64,
                            .read = read,
                            .counts = counts};
