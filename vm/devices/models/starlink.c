/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interconnect of StarFive's JH8100: 16 counters and a cycle counter of 64 bits, one enable bit
 * for all, and an interrupt. Registers as drivers/perf/starfive_starlink_pmu.c describes them; the
 * status is write-1-to-clear. The code of an event is its config.
 */
#include "plugin/model.h"

enum { COUNTERS = 16, CYCLES = COUNTERS, CYCLE_EVENT = 0x58, CYCLE_BIT = 63 };
enum { CONTROL, STATUS, ENABLE, SELECT };

static unsigned bit_of(unsigned i) { return i == CYCLES ? CYCLE_BIT : i; }

static bool enabled(const struct device* d, unsigned i) {
  return (d->word[ENABLE] >> bit_of(i) & 1) != 0;
}

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  if (!(d->word[CONTROL] & 1)) return false;
  if (i == CYCLES) return code == CYCLE_EVENT;
  return code != 0 && d->word[SELECT + i] == code;
}

static void overflowed(struct device* d, unsigned i) { d->word[STATUS] |= 1ull << bit_of(i); }

static bool pending(struct device* d) { return (d->word[STATUS] & d->word[ENABLE]) != 0; }

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  const int select = index_at(at, 0x060, COUNTERS, 8);
  const int counter = index_at(at, 0x160, COUNTERS, 8);

  (void)size;
  if (select >= 0) return d->word[SELECT + select];
  if (counter >= 0) return read_counter(d, (unsigned)counter);
  switch (at) {
    case 0x40:
      return d->word[CONTROL];
    case 0x48:
      return d->word[STATUS];
    case 0x50:
      return d->word[ENABLE];
    case 0x58:
      return read_counter(d, CYCLES);
    default:
      return 0;
  }
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  const int select = index_at(at, 0x060, COUNTERS, 8);
  const int counter = index_at(at, 0x160, COUNTERS, 8);

  (void)size;
  if (select >= 0) d->word[SELECT + select] = value;
  if (counter >= 0) write_counter(d, (unsigned)counter, value);
  switch (at) {
    case 0x40:
      d->word[CONTROL] = value;
      break;
    case 0x48:
      d->word[STATUS] &= ~value;
      break;
    case 0x50:
      d->word[ENABLE] = value;
      break;
    case 0x58:
      write_counter(d, CYCLES, value);
      break;
    default:
      break;
  }
}

const struct model model = {.name = "starlink",
                            .size = 0x1000,
                            .counters = COUNTERS + 1,
                            .width = 64,
                            .read = read,
                            .write = write,
                            .enabled = enabled,
                            .counts = counts,
                            .overflowed = overflowed,
                            .pending = pending};
