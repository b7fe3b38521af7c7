/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PMU of HiSilicon's PCIe root complex: a PCI function with eight counters of 64 bits.
 * Registers as drivers/perf/hisilicon/hisi_pcie_pmu.c and
 * Documentation/admin-guide/perf/hisi-pcie-pmu.rst describe them. Each hardware event has a second
 * counter, which is as fast as the first one here, and all ports have the same events. The code of
 * an event is its number in the event control.
 */
#include "plugin/model.h"

enum { COUNTERS = 8, STEP = 8 };
enum { GLOBAL, CONTROL, STATUS = CONTROL + COUNTERS, MASK = STATUS + COUNTERS };
enum { CONTROL_ENABLE = 1 << 20, CONTROL_RESET = 1 << 22 };

static bool enabled(const struct device* d, unsigned i) {
  return (d->word[CONTROL + i] & CONTROL_ENABLE) != 0;
}

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  return (d->word[GLOBAL] & 1) && enabled(d, i) && (d->word[CONTROL + i] & 0xffff) == code;
}

static void overflowed(struct device* d, unsigned i) { d->word[STATUS + i] = 1; }

static bool pending(struct device* d) {
  bool any = false;

  for (unsigned i = 0; i < COUNTERS; i++) any |= d->word[STATUS + i] && !d->word[MASK + i];
  return any;
}

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  const int control = index_at(at, 0x010, COUNTERS, STEP);
  const int first = index_at(at, 0x090, COUNTERS, STEP);
  const int second = index_at(at, 0x110, COUNTERS, STEP);
  const int status = index_at(at, 0x150, COUNTERS, STEP);
  const int mask = index_at(at, 0x154, COUNTERS, STEP);

  (void)size;
  if (control >= 0) return d->word[CONTROL + control];
  if (first >= 0) return read_counter(d, (unsigned)first);
  if (second >= 0) return read_counter(d, (unsigned)second);
  if (status >= 0) return d->word[STATUS + status];
  if (mask >= 0) return d->word[MASK + mask];
  switch (at) {
    case 0x000:
      return d->word[GLOBAL];
    case 0xfe0:
      return 0xffff0000; /* the root ports of this root complex: all */
    case 0xfe4:
      return 0x30; /* version */
    default:
      return 0;
  }
}

static void write_control(struct device* d, unsigned i, uint64_t value) {
  if (value & CONTROL_RESET) {
    write_counter(d, i, 0);
    d->word[STATUS + i] = 0;
  }
  d->word[CONTROL + i] = value & ~(uint64_t)CONTROL_RESET;
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  const int control = index_at(at, 0x010, COUNTERS, STEP);
  const int counter = index_at(at, 0x090, COUNTERS, STEP);
  const int status = index_at(at, 0x150, COUNTERS, STEP);
  const int mask = index_at(at, 0x154, COUNTERS, STEP);

  (void)size;
  if (at == 0x000) d->word[GLOBAL] = value & 1;
  if (control >= 0) write_control(d, (unsigned)control, value);
  if (counter >= 0) write_counter(d, (unsigned)counter, value);
  if (status >= 0) d->word[STATUS + status] &= ~value;
  if (mask >= 0) d->word[MASK + mask] = value & 1;
  /* The second counter follows the first one. */
}

const struct model model = {.name = "hisi_pcie",
                            .size = 0x1000,
                            .counters = COUNTERS,
                            .width = 64,
                            .read = read,
                            .write = write,
                            .enabled = enabled,
                            .counts = counts,
                            .overflowed = overflowed,
                            .pending = pending};
