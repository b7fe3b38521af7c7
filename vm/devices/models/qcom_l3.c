/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slice of the L3 cache of Qualcomm's Centriq: eight counters of 32 bits, of which an even and
 * the next odd one form a counter of 64 bits. Registers as drivers/perf/qcom_l3_pmu.c and
 * Documentation/admin-guide/perf/qcom_l3_pmu.rst describe them: pairs of registers set and clear
 * bits, and the status is write-1-to-clear. A counter can request an interrupt at each change of
 * its top bit. The code of an event is its type.
 */
#include "plugin/model.h"

enum { COUNTERS = 8, BITS = (1 << COUNTERS) - 1 };
enum { RUN, COUNT, INTERRUPT, CHAIN, STATUS, HALVES, TYPE };
enum { CONTROL_ENABLE = 1, CONTROL_RESET = 2 };
#define HALF (1ull << 31)

static bool bit(const struct device* d, unsigned word, unsigned i) {
  return (d->word[word] >> i & 1) != 0;
}

static bool enabled(const struct device* d, unsigned i) { return bit(d, COUNT, i); }

/* A chained counter counts the overflows of the one below it, and no events. */
static bool counts(const struct device* d, unsigned i, uint64_t code) {
  if (!d->word[RUN] || !enabled(d, i) || bit(d, CHAIN, i)) return false;
  return d->word[TYPE + i] == code;
}

static uint64_t limit(const struct device* d, unsigned i) {
  return bit(d, HALVES, i) && d->counter[i] < HALF ? HALF : 2 * HALF;
}

static void overflowed(struct device* d, unsigned i) {
  d->word[STATUS] |= 1ull << i;
  if (d->counter[i] >= HALF || i + 1 == COUNTERS) return;
  if (!bit(d, CHAIN, i + 1) || !enabled(d, i + 1)) return;
  d->counter[i + 1] = (uint32_t)(d->counter[i + 1] + 1);
}

static bool pending(struct device* d) { return (d->word[STATUS] & d->word[INTERRUPT]) != 0; }

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  const int type = index_at(at, 0x220, COUNTERS, 8);
  const int counter = index_at(at, 0x420, COUNTERS, 8);

  (void)size;
  if (type >= 0) return d->word[TYPE + type];
  if (counter >= 0) return read_counter(d, (unsigned)counter);
  switch (at) {
    case 0x500:
      return d->word[RUN];
    case 0x508:
    case 0x50c:
      return d->word[COUNT];
    case 0x510:
    case 0x514:
      return d->word[INTERRUPT];
    case 0x718:
      return d->word[CHAIN];
    case 0x740:
      return d->word[STATUS];
    case 0x96c:
      return d->word[HALVES];
    default:
      return 0;
  }
}

static void control(struct device* d, uint64_t value) {
  for (unsigned i = 0; i < COUNTERS && value & CONTROL_RESET; i++) write_counter(d, i, 0);
  d->word[RUN] = value & CONTROL_ENABLE;
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  const int type = index_at(at, 0x220, COUNTERS, 8);
  const int counter = index_at(at, 0x420, COUNTERS, 8);

  (void)size;
  if (type >= 0) d->word[TYPE + type] = value & 0xff;
  if (counter >= 0) write_counter(d, (unsigned)counter, value);
  switch (at) {
    case 0x500:
      control(d, value);
      break;
    case 0x508:
      d->word[COUNT] |= value & BITS;
      break;
    case 0x50c:
      d->word[COUNT] &= ~value;
      break;
    case 0x510:
      d->word[INTERRUPT] |= value & BITS;
      break;
    case 0x514:
      d->word[INTERRUPT] &= ~value;
      break;
    case 0x718:
      d->word[CHAIN] = value & BITS;
      break;
    case 0x740:
      d->word[STATUS] &= ~value;
      break;
    case 0x96c:
      d->word[HALVES] = value & BITS;
      break;
    default:
      break;
  }
}

const struct model model = {.name = "qcom_l3",
                            .size = 0x1000,
                            .counters = COUNTERS,
                            .width = 32,
                            .read = read,
                            .write = write,
                            .enabled = enabled,
                            .counts = counts,
                            .limit = limit,
                            .overflowed = overflowed,
                            .pending = pending};
