/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driveway of the DDR subsystem of Alibaba's Yitian 710: 16 counters of 32 bits, a cycle counter
 * of 56 bits, and one bit that starts and one that stops all of them. Registers as
 * drivers/perf/alibaba_uncore_drw_pmu.c and Documentation/admin-guide/perf/alibaba_pmu.rst describe
 * them. The code of an event is its id.
 */
#include "plugin/model.h"

enum { RUN, TEST, ENABLE, STATUS, SELECT };
enum { COUNTERS = 16, CYCLES = COUNTERS, CYCLE_EVENT = 0x80 };
enum { CONTROL_START = 1, CONTROL_STOP = 2, CONTROL_RESET = 4 };
enum { SELECT_ENABLE = 0x80, SELECT_EVENT = 0x3f, TEST_COUNTER0 = 19, STATUS_COUNTER0 = 8 };

static unsigned select_of(const struct device* d, unsigned i) {
  return (unsigned)(d->word[SELECT + i / 4] >> (8 * (i % 4))) & 0xff;
}

/* The driver cannot enable the cycle counter: it counts whenever the device runs. */
static bool enabled(const struct device* d, unsigned i) {
  return i < COUNTERS && (select_of(d, i) & SELECT_ENABLE) != 0;
}

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  if (!d->word[RUN]) return false;
  if (i == CYCLES) return code == CYCLE_EVENT;
  return enabled(d, i) && (select_of(d, i) & SELECT_EVENT) == code;
}

static unsigned width_of(unsigned i) { return i == CYCLES ? 56 : 32; }

static void overflowed(struct device* d, unsigned i) {
  if (i < COUNTERS) d->word[STATUS] |= 1ull << (STATUS_COUNTER0 + i);
}

static bool pending(struct device* d) { return (d->word[STATUS] & d->word[ENABLE]) != 0; }

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  const int counter = index_at(at, 0xc78, COUNTERS, 4);
  const int select = index_at(at, 0xc68, COUNTERS / 4, 4);

  (void)size;
  if (counter >= 0) return read_counter(d, (unsigned)counter);
  if (select >= 0) return d->word[SELECT + select];
  switch (at) {
    case 0xc04:
      return d->word[RUN];
    case 0xc08:
      return d->word[TEST];
    case 0xc10:
      return d->counter[CYCLES] >> 32;
    case 0xc14:
      return (uint32_t)read_counter(d, CYCLES);
    case 0xcc0:
      return d->word[ENABLE];
    case 0xcc8:
      return d->word[STATUS];
    default:
      return 0;
  }
}

static void control(struct device* d, uint64_t value) {
  for (unsigned i = 0; i <= COUNTERS && value & CONTROL_RESET; i++) write_counter(d, i, 0);
  if (value & CONTROL_STOP) d->word[RUN] = 0;
  if (value & CONTROL_START) d->word[RUN] = 1;
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  const int select = index_at(at, 0xc68, COUNTERS / 4, 4);
  const int tested = index_at(d->word[TEST], TEST_COUNTER0, COUNTERS, 1);

  (void)size;
  if (select >= 0) d->word[SELECT + select] = value;
  switch (at) {
    case 0xc00:
      control(d, value);
      break;
    case 0xc08:
      d->word[TEST] = value;
      break;
    case 0xc0c: /* preload of the counter that the test register selects */
      if (tested >= 0) write_counter(d, (unsigned)tested, value);
      break;
    case 0xcb8:
      d->word[ENABLE] |= value;
      break;
    case 0xcbc:
      d->word[ENABLE] &= ~value;
      break;
    case 0xcc4:
      d->word[STATUS] &= ~value;
      break;
    default:
      break;
  }
}

const struct model model = {.name = "ali_drw",
                            .size = 0x1000,
                            .counters = COUNTERS + 1,
                            .width = 32,
                            .read = read,
                            .write = write,
                            .enabled = enabled,
                            .counts = counts,
                            .overflowed = overflowed,
                            .pending = pending,
                            .width_of = width_of};
