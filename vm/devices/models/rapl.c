/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy counters of a Skylake (RAPL): free running counters of 32 bits in MSRs, without an
 * interrupt. MSRs as arch/x86/events/rapl.c and Intel's Software Developer's Manual (volume 3B,
 * "RAPL Interfaces") describe them. The energy unit is the smallest that the unit register can
 * state, 2^-31 J, so the driver polls every 5 ms. It counts in units of 2^-32 J: one step of a
 * counter adds 2 to its counts. It takes a difference of half the range for a negative one, so
 * the energy between two reads is smaller. The code of an event is its config: 1 cores, 2 package,
 * 3 memory, 4 graphics, 5 platform.
 */
#include "plugin/model.h"

enum { BYTES = 8, UNITS = 0x606, ENERGY_UNIT = 31 << 8 };
static const uint16_t places[] = {0x639, 0x611, 0x619, 0x641, 0x64d};
enum { COUNTERS = sizeof(places) / sizeof(places[0]) };

/* The driver takes a counter that is 0 for one that does not exist. */
static void reset(struct device* d) {
  for (unsigned i = 0; i < COUNTERS; i++) write_counter(d, i, 0xfffff000 + i);
}

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  (void)d;
  return code == i + 1;
}

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  (void)size;
  if (at == UNITS * BYTES) return ENERGY_UNIT;
  for (unsigned i = 0; i < COUNTERS; i++)
    if (at == places[i] * BYTES) return read_counter(d, i);
  return 0;
}

const struct model model = {.name = "rapl",
                            .size = 0x81000,
                            .counters = COUNTERS,
                            .width = 32,
                            .most_unread = (1u << 31) - 1,
                            .reset = reset,
                            .read = read,
                            .counts = counts};
