/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PMU of Arm's CoreSight PMU architecture (ARM IHI 0091): eight counters and a counter of cycles,
 * of 48 bits, each of them a pair of 32-bit registers. Registers as
 * drivers/perf/arm_cspmu/arm_cspmu.c describes them. The code of an event is its number, and 2^32
 * for cycles.
 */
#include "plugin/model.h"

/* Counter 31 counts cycles; the model has no counters between the last one and that. */
enum { GENERAL = 8, CYCLES = GENERAL, COUNTERS, CYCLE_INDEX = 31, WIDTH = 48 };
enum {
  CONTROL,
  ENABLE,
  INTERRUPT,
  STATUS,
  TYPE,
  FILTER = TYPE + GENERAL,
  CYCLE_FILTER = FILTER + GENERAL
};
enum { CONTROL_ENABLE = 1, CONTROL_RESET = 2, CONTROL_RESET_CYCLES = 4 };
enum { HAS_CYCLES = 1 << 14, SIZE_SHIFT = 8 };
#define CYCLE_EVENT (1ull << 32)

static unsigned bit_of(unsigned i) { return i == CYCLES ? CYCLE_INDEX : i; }

static uint64_t all_bits(void) { return ((1ull << GENERAL) - 1) | 1ull << CYCLE_INDEX; }

static bool enabled(const struct device* d, unsigned i) { return d->word[ENABLE] >> bit_of(i) & 1; }

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  if (!(d->word[CONTROL] & CONTROL_ENABLE) || !enabled(d, i)) return false;
  return code == (i == CYCLES ? CYCLE_EVENT : d->word[TYPE + i]);
}

static void overflowed(struct device* d, unsigned i) { d->word[STATUS] |= 1ull << bit_of(i); }

static bool pending(struct device* d) { return (d->word[STATUS] & d->word[INTERRUPT]) != 0; }

/* Returns the counter with a register at `at`, or -1. */
static int counter_at(uint64_t at) {
  const int index = index_at(at & ~4ull, 0, CYCLE_INDEX + 1, 8);

  return index == CYCLE_INDEX ? CYCLES : index < GENERAL ? index : -1;
}

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  const int counter = counter_at(at), type = index_at(at, 0x400, GENERAL, 4);
  const int filter = index_at(at, 0xa00, GENERAL, 4);

  (void)size;
  if (counter >= 0) {
    const uint64_t value = at & 4 ? d->counter[counter] : read_counter(d, (unsigned)counter);
    return at & 4 ? value >> 32 : (uint32_t)value;
  }
  if (type >= 0) return d->word[TYPE + type];
  if (filter >= 0) return d->word[FILTER + filter];
  switch (at) {
    case 0x47c:
      return d->word[CYCLE_FILTER];
    case 0xc00:
    case 0xc20:
      return d->word[ENABLE];
    case 0xc40:
    case 0xc60:
      return d->word[INTERRUPT];
    case 0xc80:
    case 0xcc0:
      return d->word[STATUS];
    case 0xe00: /* the driver takes the last of the counters for the one of cycles */
      return HAS_CYCLES | (WIDTH - 1) << SIZE_SHIFT | (COUNTERS - 1);
    case 0xe04:
      return d->word[CONTROL];
    default:
      return 0;
  }
}

static void control(struct device* d, uint64_t value) {
  for (unsigned i = 0; i < GENERAL && value & CONTROL_RESET; i++) write_counter(d, i, 0);
  if (value & CONTROL_RESET_CYCLES) write_counter(d, CYCLES, 0);
  d->word[CONTROL] = value & CONTROL_ENABLE;
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  const int counter = counter_at(at), type = index_at(at, 0x400, GENERAL, 4);
  const int filter = index_at(at, 0xa00, GENERAL, 4);

  (void)size;
  if (counter >= 0) {
    const uint64_t old = d->counter[counter];
    const uint64_t low = (uint32_t)old, high = old >> 32 << 32;
    write_counter(d, (unsigned)counter, at & 4 ? value << 32 | low : high | (uint32_t)value);
  }
  if (type >= 0) d->word[TYPE + type] = value;
  if (filter >= 0) d->word[FILTER + filter] = value;
  switch (at) {
    case 0x47c:
      d->word[CYCLE_FILTER] = value;
      break;
    case 0xc00:
      d->word[ENABLE] |= value & all_bits();
      break;
    case 0xc20:
      d->word[ENABLE] &= ~value;
      break;
    case 0xc40:
      d->word[INTERRUPT] |= value & all_bits();
      break;
    case 0xc60:
      d->word[INTERRUPT] &= ~value;
      break;
    case 0xc80:
      d->word[STATUS] &= ~value;
      break;
    case 0xcc0:
      d->word[STATUS] |= value & all_bits();
      break;
    case 0xe04:
      control(d, value);
      break;
    default:
      break;
  }
}

const struct model model = {.name = "arm_cspmu",
                            .size = 0x1000,
                            .counters = COUNTERS,
                            .width = WIDTH,
                            .read = read,
                            .write = write,
                            .enabled = enabled,
                            .counts = counts,
                            .overflowed = overflowed,
                            .pending = pending};
