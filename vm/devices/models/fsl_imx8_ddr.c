/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DDR controller of NXP's i.MX 8M Plus: a counter for cycles and three counters, of 32 bits.
 * Registers as drivers/perf/fsl_imx8_ddr_perf.c and the reference manual describe them. Only the
 * counter of cycles has an interrupt, and all counters stop while it is off or full. It counts on
 * each event, since cycles are at least as frequent. Other counters stop when they are full. The
 * code of an event is its id; code 0 is a cycle without an event. The counter of cycles, whose
 * registers come first, is the first fixed counter of the target.
 */
#include "plugin/model.h"

enum { GENERAL = 3, CYCLES = 32, COUNTERS = CYCLES + 1, SETS = GENERAL + 1 };
enum { CONTROL, FILTER = CONTROL + SETS };
enum { FULL = 1, CLEAR = 2, ENABLE = 4 };

/* Each counter has a set of registers. */
static unsigned set_of(unsigned i) { return i == CYCLES ? 0 : i + 1; }

static unsigned counter_of(unsigned set) { return set == 0 ? CYCLES : set - 1; }

/* The driver enables the counter of cycles for all events. */
static bool enabled(const struct device* d, unsigned i) {
  return i < GENERAL && (d->word[CONTROL + set_of(i)] & ENABLE) != 0;
}

static bool runs(const struct device* d, unsigned i) {
  return set_of(i) < SETS && (d->word[CONTROL + set_of(i)] & (ENABLE | FULL)) == ENABLE;
}

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  if (!runs(d, CYCLES) || !runs(d, i)) return false;
  return i == CYCLES || d->word[CONTROL + set_of(i)] >> 24 == code;
}

static void overflowed(struct device* d, unsigned i) { d->word[CONTROL + set_of(i)] |= FULL; }

static bool pending(struct device* d) { return (d->word[CONTROL] & FULL) != 0; }

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  const int control = index_at(at, 0x00, SETS, 4);
  const int counter = index_at(at, 0x20, SETS, 4);
  const int bytes = index_at(at, 0x30, SETS, 4);

  (void)size;
  if (bytes == 0) return d->word[FILTER];
  if (control >= 0) return d->word[CONTROL + control];
  if (counter >= 0) return read_counter(d, counter_of((unsigned)counter));
  if (bytes >= 0)
    return read_counter(d, counter_of((unsigned)bytes)); /* a burst is one byte here */
  return 0;
}

/* The clear bit clears the counter of cycles when it becomes 1. Bits 16 to 23 are then the highest
 * bits of the counter. It clears other counters when it is 0, and becomes 1 by itself. */
static void control(struct device* d, unsigned set, uint64_t value) {
  const unsigned i = counter_of(set);
  const uint64_t old = d->word[CONTROL + set];
  const bool clears = i == CYCLES ? (value & ~old & CLEAR) != 0 : !(value & CLEAR);

  if (clears) write_counter(d, i, i == CYCLES ? (value >> 16 & 0xff) << 24 : 0);
  if (i != CYCLES) value |= CLEAR;
  d->word[CONTROL + set] = (value & ~(uint64_t)FULL) | (clears ? 0 : old & FULL);
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  const int set = index_at(at, 0x00, SETS, 4);

  (void)size;
  if (set >= 0) control(d, (unsigned)set, value);
  if (at == 0x30) d->word[FILTER] = value;
}

const struct model model = {.name = "fsl_imx8_ddr",
                            .size = 0x1000,
                            .counters = COUNTERS,
                            .width = 32,
                            .read = read,
                            .write = write,
                            .enabled = enabled,
                            .counts = counts,
                            .overflowed = overflowed,
                            .pending = pending};
