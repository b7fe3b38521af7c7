/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DDR controller of NXP's i.MX 93: a counter of 64 bits for cycles, and ten counters of 32
 * bits. Registers as drivers/perf/fsl_imx9_ddr_perf.c describes them: a counter overflows when its
 * highest bit becomes 1. That freezes all counters, and the interrupt lasts while the bit is 1. The
 * code of an event is its config: its id, and in bits 16 to 23 its set of registers if it counts in
 * one only. The counter of cycles, whose registers come first, is the first fixed counter.
 */
#include "plugin/model.h"

enum { GENERAL = 10, CYCLES = 32, COUNTERS = CYCLES + 1, SETS = GENERAL + 1 };
enum { GLOBAL, FILTER, LOCAL_A = FILTER + 6, LOCAL_B = LOCAL_A + SETS };
enum { CONDITION = 1 << 26, FREEZE_ON_OVERFLOW = 1 << 29, INTERRUPT = 1 << 30 };
static const uint64_t FREEZE = 1ull << 31;

/* Each counter has a set of registers. */
static unsigned set_of(unsigned i) { return i == CYCLES ? 0 : i + 1; }

static unsigned counter_of(unsigned set) { return set == 0 ? CYCLES : set - 1; }

static unsigned width_of(unsigned i) { return i == CYCLES ? 64 : 32; }

static uint64_t limit(const struct device* d, unsigned i) {
  (void)d;
  return 1ull << (width_of(i) - 1);
}

static bool enabled(const struct device* d, unsigned i) {
  return set_of(i) < SETS && (d->word[LOCAL_A + set_of(i)] & (FREEZE | CONDITION)) == CONDITION;
}

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  const uint64_t local = set_of(i) < SETS ? d->word[LOCAL_A + set_of(i)] : FREEZE;
  const uint64_t event = local >> 16 & 0x7f;

  if ((d->word[GLOBAL] & FREEZE) || (local & FREEZE)) return false;
  if ((code >> 16 & 0xff) != 0 && (code >> 16 & 0xff) != set_of(i)) return false;
  return (i == CYCLES) == (event == 0) && event == (code & 0xff);
}

static bool is_full(const struct device* d, unsigned i) {
  return (d->word[LOCAL_A + set_of(i)] & CONDITION) && d->counter[i] >= limit(d, i);
}

static void overflowed(struct device* d, unsigned i) {
  if (is_full(d, i) && (d->word[GLOBAL] & FREEZE_ON_OVERFLOW)) d->word[GLOBAL] |= FREEZE;
}

static bool pending(struct device* d) {
  bool any = false;

  for (unsigned set = 0; set < SETS; set++) any |= is_full(d, counter_of(set));
  return any && (d->word[GLOBAL] & INTERRUPT);
}

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  const int filter = index_at(at, 0x00, 6, 4);
  const int a = index_at(at, 0x50, SETS, 0x10);
  const int b = index_at(at, 0x54, SETS, 0x10);
  const int counter = index_at(at, 0x58, SETS, 0x10);

  (void)size;
  if (filter >= 0) return d->word[FILTER + filter];
  if (a >= 0) return d->word[LOCAL_A + a];
  if (b >= 0) return d->word[LOCAL_B + b];
  if (counter >= 0) return (uint32_t)read_counter(d, counter_of((unsigned)counter));
  if (at == 0x5c) return d->counter[CYCLES] >> 32;
  return at == 0x40 ? d->word[GLOBAL] : 0;
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  const int filter = index_at(at, 0x00, 6, 4);
  const int a = index_at(at, 0x50, SETS, 0x10);
  const int b = index_at(at, 0x54, SETS, 0x10);
  const int counter = index_at(at, 0x58, SETS, 0x10);

  (void)size;
  if (filter >= 0) d->word[FILTER + filter] = value;
  if (a >= 0) d->word[LOCAL_A + a] = value;
  if (b >= 0) d->word[LOCAL_B + b] = value;
  if (counter == 0) value |= d->counter[CYCLES] & ~0xffffffffull;
  if (counter >= 0) write_counter(d, counter_of((unsigned)counter), value);
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
