/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DRAM controller of Marvell's CN10K: eight counters of 48 bits, and two that count reads and
 * writes, without an interrupt. Registers as drivers/perf/marvell_cn10k_ddr_pmu.c describes them.
 * The driver states that a start clears the eight counters ("h/w counter are reset"), and never
 * clears them itself. The code of an event is its id.
 */
#include "plugin/model.h"

enum { COUNTERS = 8, READS = COUNTERS, WRITES, ALL };
enum { RUN, MODE, FREE, CONFIG };
enum { FREE_WRITES = 1, FREE_READS = 2, EVENT_WRITES = 100, EVENT_READS = 101, LAST_EVENT = 64 };

static bool enabled(const struct device* d, unsigned i) {
  if (i < COUNTERS) return d->word[CONFIG + i] >> 63;
  return (d->word[FREE] & (i == READS ? FREE_READS : FREE_WRITES)) != 0;
}

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  if (!enabled(d, i)) return false;
  if (i >= COUNTERS) return code == (i == READS ? EVENT_READS : EVENT_WRITES);
  if (!d->word[RUN] || code < 1 || code > LAST_EVENT) return false;
  return (d->word[CONFIG + i] >> (code - 1) & 1) != 0;
}

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  const int config = index_at(at, 0x8040, COUNTERS, 8);
  const int counter = index_at(at, 0x8080, COUNTERS, 8);

  (void)size;
  if (config >= 0) return d->word[CONFIG + config];
  if (counter >= 0) return read_counter(d, (unsigned)counter);
  switch (at) {
    case 0x8020:
      return d->word[MODE];
    case 0x80c0:
      return d->word[FREE];
    case 0x80d0:
      return read_counter(d, WRITES);
    case 0x80d8:
      return read_counter(d, READS);
    default:
      return 0;
  }
}

static void start(struct device* d) {
  for (unsigned i = 0; i < COUNTERS && !d->word[RUN]; i++) write_counter(d, i, 0);
  d->word[RUN] = 1;
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  const int config = index_at(at, 0x8040, COUNTERS, 8);

  (void)size;
  if (config >= 0) d->word[CONFIG + config] = value;
  switch (at) {
    case 0x8020:
      d->word[MODE] = value;
      break;
    case 0x8028:
      if (value & 1) start(d);
      break;
    case 0x8030:
      if (value & 1) d->word[RUN] = 0;
      break;
    case 0x80c0:
      d->word[FREE] = value;
      break;
    case 0x80c8:
      if (value & FREE_READS) write_counter(d, READS, 0);
      if (value & FREE_WRITES) write_counter(d, WRITES, 0);
      break;
    default:
      break;
  }
}

const struct model model = {.name = "cn10k_ddr",
                            .size = 0x9000,
                            .counters = ALL,
                            .width = 48,
                            .read = read,
                            .write = write,
                            .enabled = enabled,
                            .counts = counts};
