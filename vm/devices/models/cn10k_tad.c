/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two slices of the last level cache (TAD) of Marvell's CN10K, each with eight counters of 64 bits
 * and without an interrupt. Registers as drivers/perf/marvell_cn10k_tad_pmu.c describes them. The
 * events happen in the first slice, so the sum of both is exact. The code of an event is its id.
 */
#include "plugin/model.h"

enum { PER_SLICE = 8, SLICES = 2, SLICE = 0x1000, COUNTERS = PER_SLICE * SLICES };
enum { VALUE = 0x800, SELECT = 0x900 };

/* The driver uses the same counter of each slice for an event. */
static bool enabled(const struct device* d, unsigned i) { return i < PER_SLICE && d->word[i] != 0; }

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  return i < PER_SLICE && code != 0 && d->word[i] == code;
}

/* Returns the counter that the register at `at` belongs to, if it is one of those from `base` on.
 */
static int counter_at(uint64_t at, uint64_t base) {
  const int i = index_at(at % SLICE, base, PER_SLICE, 8);

  return i < 0 ? i : i + (int)(at / SLICE) * PER_SLICE;
}

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  const int counter = counter_at(at, VALUE), select = counter_at(at, SELECT);

  (void)size;
  if (counter >= 0) return read_counter(d, (unsigned)counter);
  return select >= 0 ? d->word[select] : 0;
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  const int counter = counter_at(at, VALUE), select = counter_at(at, SELECT);

  (void)size;
  if (counter >= 0) write_counter(d, (unsigned)counter, value);
  if (select >= 0) d->word[select] = value & 0xff;
}

const struct model model = {.name = "cn10k_tad",
                            .size = SLICES * SLICE,
                            .counters = COUNTERS,
                            .width = 64,
                            .read = read,
                            .write = write,
                            .enabled = enabled,
                            .counts = counts};
