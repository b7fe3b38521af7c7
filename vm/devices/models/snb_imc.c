/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory controller of Intel's client processors: five free running counters of 32 bits in the
 * MCHBAR, without an interrupt. Registers as arch/x86/events/intel/uncore_snb.c and Intel's
 * "Monitoring Integrated Memory Controller Requests" describe them. The code of an event is its
 * config: 1 data reads, 2 data writes, 3 requests of the graphics, 4 of the cores, 5 of devices.
 */
#include "plugin/model.h"

enum { COUNTERS = 5 };
static const uint16_t places[COUNTERS] = {0x5050, 0x5054, 0x5040, 0x5044, 0x5048};

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  (void)d;
  return code == i + 1;
}

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  (void)size;
  for (unsigned i = 0; i < COUNTERS; i++)
    if (places[i] == at) return read_counter(d, i);
  return 0;
}

const struct model model = {.name = "snb_imc",
                            .size = 0x6000,
                            .counters = COUNTERS,
                            .width = 32,
                            .read = read,
                            .counts = counts};
