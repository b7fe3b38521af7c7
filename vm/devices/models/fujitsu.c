/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory access controller of Fujitsu's MONAKA: eight counters of 64 bits and an interrupt.
 * Registers as drivers/perf/fujitsu_uncore_pmu.c (Linux 7.2) and
 * Documentation/admin-guide/perf/fujitsu_uncore_pmu.rst describe them: pairs of registers set and
 * clear bits, and the status is write-1-to-clear. The code of an event is its id.
 */
#include "plugin/model.h"

enum { COUNTERS = 8, BITS = (1 << COUNTERS) - 1 };
enum { CONTROL, COUNT, INTERRUPT, STATUS, TYPE };

static bool enabled(const struct device* d, unsigned i) { return (d->word[COUNT] >> i & 1) != 0; }

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  return (d->word[CONTROL] & 1) && enabled(d, i) && d->word[TYPE + i] == code;
}

static void overflowed(struct device* d, unsigned i) { d->word[STATUS] |= 1ull << i; }

static bool pending(struct device* d) { return (d->word[STATUS] & d->word[INTERRUPT]) != 0; }

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  const int counter = index_at(at, 0x000, COUNTERS, 8);
  const int type = index_at(at, 0x200, COUNTERS, 8);

  (void)size;
  if (counter >= 0) return read_counter(d, (unsigned)counter);
  if (type >= 0) return d->word[TYPE + type];
  switch (at) {
    case 0x400:
      return d->word[CONTROL];
    case 0x410:
    case 0x418:
      return d->word[COUNT];
    case 0x420:
    case 0x428:
      return d->word[INTERRUPT];
    case 0x440:
      return d->word[STATUS];
    default:
      return 0;
  }
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  const int counter = index_at(at, 0x000, COUNTERS, 8);
  const int type = index_at(at, 0x200, COUNTERS, 8);

  (void)size;
  if (counter >= 0) write_counter(d, (unsigned)counter, value);
  if (type >= 0) d->word[TYPE + type] = value & 0xff;
  switch (at) {
    case 0x400:
      d->word[CONTROL] = value & 1;
      break;
    case 0x410:
      d->word[COUNT] |= value & BITS;
      break;
    case 0x418:
      d->word[COUNT] &= ~value;
      break;
    case 0x420:
      d->word[INTERRUPT] |= value & BITS;
      break;
    case 0x428:
      d->word[INTERRUPT] &= ~value;
      break;
    case 0x440:
      d->word[STATUS] &= ~value;
      break;
    default:
      break;
  }
}

const struct model model = {.name = "fujitsu",
                            .size = 0x1000,
                            .counters = COUNTERS,
                            .width = 64,
                            .read = read,
                            .write = write,
                            .enabled = enabled,
                            .counts = counts,
                            .overflowed = overflowed,
                            .pending = pending};
