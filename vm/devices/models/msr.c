/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free running counters that each CPU of a Skylake has in MSRs, as arch/x86/events/msr.c and
 * Intel's Software Developer's Manual (volume 4) describe them: cycles at the actual and at the
 * maximum frequency, productive cycles, and system management interrupts (32 bits). The code of an
 * event is its config.
 */
#include "plugin/model.h"

enum { BYTES = 8, STRIDE = 0x100000, CPUS = 8 };
static const struct {
  uint16_t msr, code;
} places[] = {{0xe8, 1}, {0xe7, 2}, {0x64e, 3}, {0x34, 4}};
enum { EVENTS = sizeof(places) / sizeof(places[0]), SMI = 3 };

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  return i / EVENTS == d->cpu && places[i % EVENTS].code == code;
}

static unsigned width_of(unsigned i) { return i % EVENTS == SMI ? 32 : 64; }

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  const unsigned cpu = (unsigned)(at / STRIDE);

  (void)size;
  for (unsigned i = 0; i < EVENTS && cpu < CPUS; i++)
    if (at % STRIDE == places[i].msr * BYTES) return read_counter(d, cpu * EVENTS + i);
  return 0;
}

const struct model model = {.name = "msr",
                            .size = CPUS * STRIDE,
                            .counters = CPUS * EVENTS,
                            .width = 64,
                            .read = read,
                            .counts = counts,
                            .width_of = width_of};
