/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DDR controller of NXP's i.MX 93: a counter of 64 bits for cycles, and ten counters of 32
 * bits. Registers as drivers/perf/fsl_imx9_ddr_perf.c describes them: a counter overflows when its
 * highest bit becomes 1. That freezes all counters, and the interrupt lasts while the bit is 1. The
 * code of an event is its config: its id, and in bits 16 to 23 its counter if it has only one.
 */
#include "plugin/model.h"

enum { COUNTERS = 11, CYCLES = 0 };
enum { GLOBAL, FILTER, LOCAL_A = FILTER + 6, LOCAL_B = LOCAL_A + COUNTERS };
enum { CONDITION = 1 << 26, FREEZE_ON_OVERFLOW = 1 << 29, INTERRUPT = 1 << 30 };
static const uint64_t FREEZE = 1ull << 31;

static unsigned width_of(unsigned i) { return i == CYCLES ? 64 : 32; }

static uint64_t limit(const struct device* d, unsigned i) {
  (void)d;
  return 1ull << (width_of(i) - 1);
}

static bool enabled(const struct device* d, unsigned i) {
  return (d->word[LOCAL_A + i] & (FREEZE | CONDITION)) == CONDITION;
}

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  const uint64_t event = d->word[LOCAL_A + i] >> 16 & 0x7f;

  if ((d->word[GLOBAL] & FREEZE) || (d->word[LOCAL_A + i] & FREEZE)) return false;
  if ((code >> 16 & 0xff) != 0 && (code >> 16 & 0xff) != i) return false;
  return (i == CYCLES) == (event == 0) && event == (code & 0xff);
}

static bool is_full(const struct device* d, unsigned i) {
  return (d->word[LOCAL_A + i] & CONDITION) && d->counter[i] >= limit(d, i);
}

static void overflowed(struct device* d, unsigned i) {
  if (is_full(d, i) && (d->word[GLOBAL] & FREEZE_ON_OVERFLOW)) d->word[GLOBAL] |= FREEZE;
}

static bool pending(struct device* d) {
  bool any = false;

  for (unsigned i = 0; i < COUNTERS; i++) any |= is_full(d, i);
  return any && (d->word[GLOBAL] & INTERRUPT);
}

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  const int filter = index_at(at, 0x00, 6, 4);
  const int a = index_at(at, 0x50, COUNTERS, 0x10);
  const int b = index_at(at, 0x54, COUNTERS, 0x10);
  const int counter = index_at(at, 0x58, COUNTERS, 0x10);

  (void)size;
  if (filter >= 0) return d->word[FILTER + filter];
  if (a >= 0) return d->word[LOCAL_A + a];
  if (b >= 0) return d->word[LOCAL_B + b];
  if (counter >= 0) return (uint32_t)read_counter(d, (unsigned)counter);
  if (at == 0x5c) return d->counter[CYCLES] >> 32;
  return at == 0x40 ? d->word[GLOBAL] : 0;
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  const int filter = index_at(at, 0x00, 6, 4);
  const int a = index_at(at, 0x50, COUNTERS, 0x10);
  const int b = index_at(at, 0x54, COUNTERS, 0x10);
  const int counter = index_at(at, 0x58, COUNTERS, 0x10);

  (void)size;
  if (filter >= 0) d->word[FILTER + filter] = value;
  if (a >= 0) d->word[LOCAL_A + a] = value;
  if (b >= 0) d->word[LOCAL_B + b] = value;
  if (counter == CYCLES) value |= d->counter[CYCLES] & ~0xffffffffull;
  if (counter >= 0) write_counter(d, (unsigned)counter, value);
  if (at == 0x5c) write_counter(d, CYCLES, value << 32 | (uint32_t)d->counter[CYCLES]);
  if (at == 0x40) d->word[GLOBAL] = value;
}

const struct model model = {.name = "fsl_imx9_ddr",
                            .size = 0x1000,
                            .counters = COUNTERS,
                            .width = 32,
                            .read = read,
                            .write = write,
                            .enabled = enabled,
                            .counts = counts,
                            .limit = limit,
                            .overflowed = overflowed,
                            .pending = pending,
                            .width_of = width_of};
