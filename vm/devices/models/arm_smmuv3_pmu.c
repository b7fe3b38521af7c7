/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A performance monitor counter group of Arm's SMMUv3: eight counters of 32 bits, an interrupt, no
 * second page, and no MSI. Registers as Arm's document IHI 0070 and drivers/perf/arm_smmuv3_pmu.c
 * describe them: pairs of registers set and clear bits. The code of an event is its id. All events
 * match the filter of each counter.
 */
#include "plugin/model.h"

enum { COUNTERS = 8, BITS = (1 << COUNTERS) - 1, EVENTS = 0xff };
enum { CONTROL, INTERRUPTS, COUNT, INTERRUPT, STATUS, TYPE, FILTER = TYPE + COUNTERS };
enum { CONFIGURATION = (32 - 1) << 8 | (COUNTERS - 1), IMPLEMENTATION = 0x4830043b };

static bool enabled(const struct device* d, unsigned i) { return (d->word[COUNT] >> i & 1) != 0; }

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  return d->word[CONTROL] && enabled(d, i) && (d->word[TYPE + i] & 0xffff) == code;
}

static void overflowed(struct device* d, unsigned i) { d->word[STATUS] |= 1ull << i; }

static bool pending(struct device* d) {
  return d->word[INTERRUPTS] && (d->word[STATUS] & d->word[INTERRUPT]) != 0;
}

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  const int counter = index_at(at, 0x000, COUNTERS, 4);
  const int type = index_at(at, 0x400, COUNTERS, 4);
  const int filter = index_at(at, 0xa00, COUNTERS, 4);

  (void)size;
  if (counter >= 0) return read_counter(d, (unsigned)counter);
  if (type >= 0) return d->word[TYPE + type];
  if (filter >= 0) return d->word[FILTER + filter];
  switch (at) {
    case 0xc00:
    case 0xc20:
      return d->word[COUNT];
    case 0xc40:
    case 0xc60:
      return d->word[INTERRUPT];
    case 0xc80:
    case 0xcc0:
      return d->word[STATUS];
    case 0xe00:
      return CONFIGURATION;
    case 0xe04:
      return d->word[CONTROL];
    case 0xe08:
      return IMPLEMENTATION;
    case 0xe20:
      return EVENTS;
    case 0xe50:
    case 0xe54: /* the device acknowledges at once */
      return d->word[INTERRUPTS];
    default:
      return 0;
  }
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  const int counter = index_at(at, 0x000, COUNTERS, 4);
  const int type = index_at(at, 0x400, COUNTERS, 4);
  const int filter = index_at(at, 0xa00, COUNTERS, 4);

  (void)size;
  if (counter >= 0) write_counter(d, (unsigned)counter, value);
  if (type >= 0) d->word[TYPE + type] = value;
  if (filter >= 0) d->word[FILTER + filter] = value;
  switch (at) {
    case 0xc00:
      d->word[COUNT] |= value & BITS;
      break;
    case 0xc20:
      d->word[COUNT] &= ~value;
      break;
    case 0xc40:
      d->word[INTERRUPT] |= value & BITS;
      break;
    case 0xc60:
      d->word[INTERRUPT] &= ~value;
      break;
    case 0xc80:
      d->word[STATUS] &= ~value;
      break;
    case 0xcc0:
      d->word[STATUS] |= value & BITS;
      break;
    case 0xe04:
      d->word[CONTROL] = value & 1;
      break;
    case 0xe50:
      d->word[INTERRUPTS] = value & 1;
      break;
    default:
      break;
  }
}

const struct model model = {.name = "arm_smmuv3_pmu",
                            .size = 0x1000,
                            .counters = COUNTERS,
                            .width = 32,
                            .read = read,
                            .write = write,
                            .enabled = enabled,
                            .counts = counts,
                            .overflowed = overflowed,
                            .pending = pending};
