/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bandwidth monitor of the DDR controller of Amlogic's G12A: counters of 32 bits for all
 * requests and for four channels, and a timer with an interrupt. Registers as
 * drivers/perf/amlogic/meson_g12_ddr_pmu.c describes them. Each request takes one clock of the
 * timer, and the monitor stops when that has elapsed. The code of an event is its config: 0 is a
 * request of no channel, and 1 to 4 are requests of the ports that a channel selects.
 */
#include "plugin/model.h"

enum { TOTAL, CHANNEL, CHANNELS = 4, TIMER = CHANNEL + CHANNELS, COUNTERS };
enum { CONTROL, SELECT, SELECTS = 2 * CHANNELS, LENGTH = SELECT + SELECTS, RUNS };
enum { PLL = 0x1000, PLL_600_MHZ = 1 << 10 | 100 };
static const uint64_t ENABLE = 1ull << 31, ELAPSED = 1ull << 30;

static bool enabled(const struct device* d, unsigned i) {
  if (i < CHANNEL || i == TIMER) return (d->word[CONTROL] & ENABLE) != 0;
  return (d->word[CONTROL] & ENABLE) && (d->word[CONTROL] >> (i - CHANNEL) & 1);
}

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  return enabled(d, i) && d->word[RUNS] && (i == TIMER || code == i);
}

static void overflowed(struct device* d, unsigned i) {
  if (i != TIMER) return;
  d->word[CONTROL] |= ELAPSED;
  d->word[RUNS] = 0;
}

static bool pending(struct device* d) { return (d->word[CONTROL] & ELAPSED) != 0; }

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  const int select = index_at(at, 0x04, SELECTS, 4);
  const int counter = index_at(at, 0x28, TIMER, 4);

  (void)size;
  if (select >= 0) return d->word[SELECT + select];
  if (counter >= 0) return read_counter(d, (unsigned)counter);
  switch (at) {
    case 0x00:
      return d->word[CONTROL];
    case 0x24: /* requests, which are all granted */
      return d->counter[TOTAL];
    case 0x3c:
      return d->word[LENGTH];
    case PLL:
      return PLL_600_MHZ;
    default:
      return 0;
  }
}

/* Acknowledges the interrupt, or starts an interval: the device does not do both in one write. */
static void control(struct device* d, uint64_t value) {
  const bool starts = (value & (ENABLE | ELAPSED)) == ENABLE;

  for (unsigned i = 0; i < TIMER && starts; i++) write_counter(d, i, 0);
  if (starts) write_counter(d, TIMER, -d->word[LENGTH]);
  if (starts || !(value & ENABLE)) d->word[RUNS] = starts;
  d->word[CONTROL] = value & ELAPSED ? value & ~ELAPSED : value | (d->word[CONTROL] & ELAPSED);
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  const int select = index_at(at, 0x04, SELECTS, 4);
  const int counter = index_at(at, 0x28, TIMER, 4);

  (void)size;
  if (select >= 0) d->word[SELECT + select] = value;
  if (counter >= 0) write_counter(d, (unsigned)counter, value);
  if (at == 0x00) control(d, value);
  if (at == 0x3c) d->word[LENGTH] = value;
}

const struct model model = {.name = "meson_ddr",
                            .size = 0x2000,
                            .counters = COUNTERS,
                            .width = 32,
                            .read = read,
                            .write = write,
                            .enabled = enabled,
                            .counts = counts,
                            .overflowed = overflowed,
                            .pending = pending};
