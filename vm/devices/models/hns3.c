/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PMU of HiSilicon's network controller: a PCI function with eight counters of 64 bits, which
 * restart from 0. Registers as drivers/perf/hisilicon/hns3_pmu.c and
 * Documentation/admin-guide/perf/hns3-pmu.rst describe them. Each hardware event has a second
 * counter, which is as fast as the first one here. The code of an event is its config.
 */
#include "plugin/model.h"

enum { COUNTERS = 8, STEP = 0x1000 };
enum { GLOBAL, LOW, HIGH = LOW + COUNTERS, STATUS = HIGH + COUNTERS, MASK = STATUS + COUNTERS };
enum { QUEUE = MASK + COUNTERS };
enum { LOW_RESET = 1 << 11, LOW_ENABLE = 1 << 12, QUEUE_DONE = 2 };

static bool enabled(const struct device* d, unsigned i) {
  return (d->word[LOW + i] & LOW_ENABLE) != 0;
}

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  const uint64_t low = d->word[LOW + i];

  if (!(d->word[GLOBAL] & 1) || !enabled(d, i)) return false;
  return (low & 0xf) == (code >> 8 & 0xf) && (low >> 4 & 0xff) == (code & 0xff);
}

static void overflowed(struct device* d, unsigned i) { d->word[STATUS + i] |= 2; }

static bool pending(struct device* d) {
  bool any = false;

  for (unsigned i = 0; i < COUNTERS; i++) any |= (d->word[STATUS + i] & ~d->word[MASK + i]) != 0;
  return any;
}

static uint64_t read_event(struct device* d, unsigned i, uint64_t at, unsigned size) {
  switch (at) {
    case 0x00:
      return d->word[LOW + i];
    case 0x04:
      return d->word[HIGH + i];
    case 0x08:
      return d->word[STATUS + i];
    case 0x0c:
      return d->word[MASK + i];
    case 0x10:
    case 0x18:
      return size == 8 ? read_counter(d, i) : (uint32_t)read_counter(d, i);
    case 0x14:
    case 0x1c:
      return d->counter[i] >> 32;
    case 0x28:
      return QUEUE_DONE; /* each queue exists */
    case 0x2c:
      return d->word[QUEUE + i];
    default:
      return 0;
  }
}

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  if (at >= STEP) return read_event(d, (unsigned)(at / STEP - 1), at % STEP, size);
  switch (at) {
    case 0x000:
      return d->word[GLOBAL];
    case 0x020:
      return 1000; /* MHz of the timer */
    case 0xfe0:
      return 0xffff0000; /* the functions of this controller: all */
    case 0xfe4:
      return 0x30; /* version */
    default:
      return 0;
  }
}

static void write_event(struct device* d, unsigned i, uint64_t at, uint64_t value, unsigned size) {
  switch (at) {
    case 0x00:
      if (value & LOW_RESET) d->word[STATUS + i] = 0;
      d->word[LOW + i] = value;
      break;
    case 0x04:
      d->word[HIGH + i] = value;
      break;
    case 0x0c:
      d->word[MASK + i] = value;
      break;
    case 0x10:
      if (size == 4) value |= d->counter[i] & ~0xffffffffull;
      write_counter(d, i, value);
      break;
    case 0x14:
      write_counter(d, i, value << 32 | (uint32_t)d->counter[i]);
      break;
    case 0x2c:
      d->word[QUEUE + i] = value;
      break;
    default: /* the second counter follows the first one */
      break;
  }
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  if (at >= STEP)
    write_event(d, (unsigned)(at / STEP - 1), at % STEP, value, size);
  else if (at == 0)
    d->word[GLOBAL] = value;
}

const struct model model = {.name = "hns3",
                            .size = (COUNTERS + 1) * STEP + 0x7000,
                            .counters = COUNTERS,
                            .width = 64,
                            .read = read,
                            .write = write,
                            .enabled = enabled,
                            .counts = counts,
                            .overflowed = overflowed,
                            .pending = pending};
