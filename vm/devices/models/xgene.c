/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PMU of APM's X-Gene 2, with one of its devices, the L3 cache: four counters of 32 bits. Pages
 * are the interrupt status, the switch and the two memory bridges that name the devices, and the
 * registers of the L3 cache, as drivers/perf/xgene_pmu.c describes them. The status of overflows is
 * write-1-to-clear. The driver adds a bit to what it reads from a register that clears bits, so
 * such a register reads as 0. The code of an event is its id.
 */
#include "plugin/model.h"

enum { COUNTERS = 4, BITS = (1 << COUNTERS) - 1, DEVICE = 0x4000 };
enum { MASKED, CONTROL, COUNT, INTERRUPT, STATUS, AGENTS, TYPE = AGENTS + 2 };
enum { CONTROL_ENABLE = 1, CONTROL_RESET = 2, SOURCE_L3 = 4, SOURCES = 0xf };

static void reset(struct device* d) { d->word[MASKED] = SOURCES; }

static bool enabled(const struct device* d, unsigned i) { return (d->word[COUNT] >> i & 1) != 0; }

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  return (d->word[CONTROL] & CONTROL_ENABLE) && enabled(d, i) && d->word[TYPE + i] == code;
}

static void overflowed(struct device* d, unsigned i) { d->word[STATUS] |= 1ull << i; }

static uint64_t sources(const struct device* d) {
  return d->word[STATUS] & d->word[INTERRUPT] ? SOURCE_L3 : 0;
}

static bool pending(struct device* d) { return (sources(d) & ~d->word[MASKED]) != 0; }

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  const int counter = index_at(at, DEVICE + 0x000, COUNTERS, 4);
  const int type = index_at(at, DEVICE + 0x400, COUNTERS, 4);
  const int agents = index_at(at, DEVICE + 0xa00, 2, 4);

  (void)size;
  if (counter >= 0) return read_counter(d, (unsigned)counter);
  if (type >= 0) return d->word[TYPE + type];
  if (agents >= 0) return d->word[AGENTS + agents];
  switch (at) {
    case 0x000:
      return sources(d);
    case 0x004:
      return d->word[MASKED];
    case DEVICE + 0xc00:
      return d->word[COUNT];
    case DEVICE + 0xc40:
      return d->word[INTERRUPT];
    case DEVICE + 0xc80:
      return d->word[STATUS];
    case DEVICE + 0xe04:
      return d->word[CONTROL];
    default: /* the switch states that there is one memory bridge, which has one controller */
      return 0;
  }
}

static void control(struct device* d, uint64_t value) {
  for (unsigned i = 0; i < COUNTERS && value & CONTROL_RESET; i++) write_counter(d, i, 0);
  d->word[CONTROL] = value & CONTROL_ENABLE;
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  const int counter = index_at(at, DEVICE + 0x000, COUNTERS, 4);
  const int type = index_at(at, DEVICE + 0x400, COUNTERS, 4);
  const int agents = index_at(at, DEVICE + 0xa00, 2, 4);

  (void)size;
  if (counter >= 0) write_counter(d, (unsigned)counter, value);
  if (type >= 0) d->word[TYPE + type] = value & 0xff;
  if (agents >= 0) d->word[AGENTS + agents] = value;
  switch (at) {
    case 0x004:
      d->word[MASKED] = value & SOURCES;
      break;
    case DEVICE + 0xc00:
      d->word[COUNT] |= value & BITS;
      break;
    case DEVICE + 0xc20:
      d->word[COUNT] &= ~value;
      break;
    case DEVICE + 0xc40:
      d->word[INTERRUPT] |= value & BITS;
      break;
    case DEVICE + 0xc60:
      d->word[INTERRUPT] &= ~value;
      break;
    case DEVICE + 0xc80:
      d->word[STATUS] &= ~value;
      break;
    case DEVICE + 0xe04:
      control(d, value);
      break;
    default:
      break;
  }
}

const struct model model = {.name = "xgene",
                            .size = DEVICE + 0x1000,
                            .counters = COUNTERS,
                            .width = 32,
                            .reset = reset,
                            .read = read,
                            .write = write,
                            .enabled = enabled,
                            .counts = counts,
                            .overflowed = overflowed,
                            .pending = pending};
