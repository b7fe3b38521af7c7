/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The residency of a Skylake in its idle states: free running counters of 64 bits in MSRs, three of
 * each core and four of the package. MSRs as arch/x86/events/intel/cstate.c and Intel's Software
 * Developer's Manual (volume 4, "PKG_C2_RESIDENCY" and so on) describe them. All cores have the
 * same values. The code of an event is its config, and 0x100 more for a core.
 */
#include "plugin/model.h"

enum { BYTES = 8, CORE = 0x100 };
static const struct {
  uint16_t msr, code;
} places[] = {
    {0x60d, 0},        {0x3f8, 1},        {0x3f9, 2},        {0x3fa, 3},
    {0x3fc, CORE | 1}, {0x3fd, CORE | 2}, {0x3fe, CORE | 3},
};
enum { COUNTERS = sizeof(places) / sizeof(places[0]) };

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  (void)d;
  return places[i].code == code;
}

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  (void)size;
  for (unsigned i = 0; i < COUNTERS; i++)
    if (at == places[i].msr * BYTES) return read_counter(d, i);
  return 0;
}

const struct model model = {.name = "cstate",
                            .size = 0x81000,
                            .counters = COUNTERS,
                            .width = 64,
                            .read = read,
                            .counts = counts};
