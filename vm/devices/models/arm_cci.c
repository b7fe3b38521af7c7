/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cache coherent interconnect CCI-400 of Arm, revision 1: a counter for cycles and four
 * counters, of 32 bits. Registers as Arm's document DDI 0470 and drivers/perf/arm-cci.c describe
 * them: a page for each counter, with a write-1-to-clear flag. The code of an event is its config.
 * The first page has the counter of cycles, which is the first fixed counter of the target.
 */
#include "plugin/model.h"

enum { GENERAL = 4, CYCLES = 32, COUNTERS = CYCLES + 1, CYCLE_EVENT = 0xff };
enum { PAGES = GENERAL + 1, FIRST_PAGE = 0x9000, PAGE = 0x1000 };
enum { CONTROL, SELECT, COUNT = SELECT + PAGES, FLAG = COUNT + PAGES };
enum { RUN = 1, RESET = 2, RESET_CYCLES = 4, IMPLEMENTED = GENERAL << 11 };

static unsigned page_of(unsigned i) { return i == CYCLES ? 0 : i + 1; }

static unsigned counter_of(unsigned page) { return page == 0 ? CYCLES : page - 1; }

static bool enabled(const struct device* d, unsigned i) {
  return page_of(i) < PAGES && (d->word[COUNT + page_of(i)] & 1) != 0;
}

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  if (!(d->word[CONTROL] & RUN) || !enabled(d, i)) return false;
  return code == (i == CYCLES ? CYCLE_EVENT : d->word[SELECT + page_of(i)]);
}

static void overflowed(struct device* d, unsigned i) { d->word[FLAG + page_of(i)] = 1; }

static bool pending(struct device* d) {
  bool any = false;

  for (unsigned page = 0; page < PAGES; page++) any |= d->word[FLAG + page] != 0;
  return any;
}

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  const unsigned page = (unsigned)((at - FIRST_PAGE) / PAGE);

  (void)size;
  if (at == 0x100) return d->word[CONTROL] | IMPLEMENTED;
  if (at == 0xfe8) return 0x60; /* revision 1 */
  if (at < FIRST_PAGE || page >= PAGES) return 0;
  switch (at % PAGE) {
    case 0x0:
      return d->word[SELECT + page];
    case 0x4:
      return read_counter(d, counter_of(page));
    case 0x8:
      return d->word[COUNT + page];
    case 0xc:
      return d->word[FLAG + page];
    default:
      return 0;
  }
}

static void control(struct device* d, uint64_t value) {
  for (unsigned page = 0; page < PAGES; page++)
    if (value & (page == 0 ? RESET_CYCLES : RESET)) write_counter(d, counter_of(page), 0);
  d->word[CONTROL] = value & RUN;
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  const unsigned page = (unsigned)((at - FIRST_PAGE) / PAGE);

  (void)size;
  if (at == 0x100) control(d, value);
  if (at < FIRST_PAGE || page >= PAGES) return;
  switch (at % PAGE) {
    case 0x0:
      d->word[SELECT + page] = value & 0xff;
      break;
    case 0x4:
      write_counter(d, counter_of(page), value);
      break;
    case 0x8:
      d->word[COUNT + page] = value & 1;
      break;
    case 0xc:
      d->word[FLAG + page] &= ~value;
      break;
    default:
      break;
  }
}

const struct model model = {.name = "arm_cci",
                            .size = FIRST_PAGE + PAGES * PAGE,
                            .counters = COUNTERS,
                            .width = 32,
                            .read = read,
                            .write = write,
                            .enabled = enabled,
                            .counts = counts,
                            .overflowed = overflowed,
                            .pending = pending};
