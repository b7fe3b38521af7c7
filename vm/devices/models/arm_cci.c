/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cache coherent interconnect CCI-400 of Arm, revision 1: a counter for cycles and four
 * counters, of 32 bits. Registers as Arm's document DDI 0470 and drivers/perf/arm-cci.c describe
 * them: a page for each counter, with a write-1-to-clear flag. The code of an event is its config.
 */
#include "plugin/model.h"

enum { COUNTERS = 5, CYCLES = 0, CYCLE_EVENT = 0xff };
enum { CONTROL, SELECT, COUNT = SELECT + COUNTERS, FLAG = COUNT + COUNTERS };
enum { RUN = 1, RESET = 2, RESET_CYCLES = 4, IMPLEMENTED = (COUNTERS - 1) << 11 };
enum { PAGES = 0x9000, PAGE = 0x1000 };

static bool enabled(const struct device* d, unsigned i) { return (d->word[COUNT + i] & 1) != 0; }

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  if (!(d->word[CONTROL] & RUN) || !enabled(d, i)) return false;
  return code == (i == CYCLES ? CYCLE_EVENT : d->word[SELECT + i]);
}

static void overflowed(struct device* d, unsigned i) { d->word[FLAG + i] = 1; }

static bool pending(struct device* d) {
  bool any = false;

  for (unsigned i = 0; i < COUNTERS; i++) any |= d->word[FLAG + i] != 0;
  return any;
}

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  const unsigned i = (unsigned)((at - PAGES) / PAGE);

  (void)size;
  if (at == 0x100) return d->word[CONTROL] | IMPLEMENTED;
  if (at == 0xfe8) return 0x60; /* revision 1 */
  if (at < PAGES || i >= COUNTERS) return 0;
  switch (at % PAGE) {
    case 0x0:
      return d->word[SELECT + i];
    case 0x4:
      return read_counter(d, i);
    case 0x8:
      return d->word[COUNT + i];
    case 0xc:
      return d->word[FLAG + i];
    default:
      return 0;
  }
}

static void control(struct device* d, uint64_t value) {
  for (unsigned i = 0; i < COUNTERS; i++)
    if (value & (i == CYCLES ? RESET_CYCLES : RESET)) write_counter(d, i, 0);
  d->word[CONTROL] = value & RUN;
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  const unsigned i = (unsigned)((at - PAGES) / PAGE);

  (void)size;
  if (at == 0x100) control(d, value);
  if (at < PAGES || i >= COUNTERS) return;
  switch (at % PAGE) {
    case 0x0:
      d->word[SELECT + i] = value & 0xff;
      break;
    case 0x4:
      write_counter(d, i, value);
      break;
    case 0x8:
      d->word[COUNT + i] = value & 1;
      break;
    case 0xc:
      d->word[FLAG + i] &= ~value;
      break;
    default:
      break;
  }
}

const struct model model = {.name = "arm_cci",
                            .size = PAGES + COUNTERS * PAGE,
                            .counters = COUNTERS,
                            .width = 32,
                            .read = read,
                            .write = write,
                            .enabled = enabled,
                            .counts = counts,
                            .overflowed = overflowed,
                            .pending = pending};
