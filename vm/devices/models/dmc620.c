/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PMU of Arm's memory controller CoreLink DMC-620: eight counters of the clock divided by two,
 * and two of the clock itself, of 32 bits. Registers as drivers/perf/arm_dmc620_pmu.c and the
 * manual of the DMC-620 describe them: each domain has a status of overflows, which software
 * writes. The filters of addresses match every request here. The code of an event is its config2.
 */
#include "plugin/model.h"

enum { HALF_CLOCK = 8, COUNTERS = HALF_CLOCK + 2 };
enum { STATUS_HALF, STATUS_FULL, CONTROL, MASK = CONTROL + COUNTERS, FILTERS = 4 };
enum { CONTROL_ENABLE = 1, CONTROL_EVENT = 2, CONTROL_BITS = 0x1ff };
enum { CODE_EVENT = 3, CODE_HALF_CLOCK = 9 };
enum { GROUPS = 0x10, STEP = 0x28 };

static bool enabled(const struct device* d, unsigned i) {
  return (d->word[CONTROL + i] & CONTROL_ENABLE) != 0;
}

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  if (!enabled(d, i) || (code >> CODE_HALF_CLOCK & 1) != (i < HALF_CLOCK)) return false;
  return (d->word[CONTROL + i] >> CONTROL_EVENT & 0x1f) == (code >> CODE_EVENT & 0x3f);
}

static void overflowed(struct device* d, unsigned i) {
  if (i < HALF_CLOCK)
    d->word[STATUS_HALF] |= 1ull << i;
  else
    d->word[STATUS_FULL] |= 1ull << (i - HALF_CLOCK);
}

static bool pending(struct device* d) { return (d->word[STATUS_HALF] | d->word[STATUS_FULL]) != 0; }

static uint64_t read_group(struct device* d, unsigned i, uint64_t at) {
  const int filter = index_at(at, 0x00, FILTERS, 4);

  if (filter >= 0) return d->word[MASK + FILTERS * i + filter];
  if (at == 0x10) return d->word[CONTROL + i];
  return at == 0x20 ? read_counter(d, i) : 0;
}

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  (void)size;
  if (at == 0x8) return d->word[STATUS_HALF];
  if (at == 0xc) return d->word[STATUS_FULL];
  if (at < GROUPS || at >= GROUPS + STEP * COUNTERS) return 0;
  return read_group(d, (unsigned)((at - GROUPS) / STEP), (at - GROUPS) % STEP);
}

static void write_group(struct device* d, unsigned i, uint64_t at, uint64_t value) {
  const int filter = index_at(at, 0x00, FILTERS, 4);

  if (filter >= 0) d->word[MASK + FILTERS * i + filter] = value;
  if (at == 0x10) d->word[CONTROL + i] = value & CONTROL_BITS;
  if (at == 0x20) write_counter(d, i, value);
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  (void)size;
  if (at == 0x8) d->word[STATUS_HALF] = value & 0xff;
  if (at == 0xc) d->word[STATUS_FULL] = value & 0x3;
  if (at < GROUPS || at >= GROUPS + STEP * COUNTERS) return;
  write_group(d, (unsigned)((at - GROUPS) / STEP), (at - GROUPS) % STEP, value);
}

const struct model model = {.name = "dmc620",
                            .size = 0x1000,
                            .counters = COUNTERS,
                            .width = 32,
                            .read = read,
                            .write = write,
                            .enabled = enabled,
                            .counts = counts,
                            .overflowed = overflowed,
                            .pending = pending};
