/* SPDX-License-Identifier: Apache-2.0 */
/* The part that all models share: the interrupt line, pulses, and the port page. */
#include "plugin/model.h"

#include "stimulus/port_page.h"

static uint64_t mask(unsigned i) {
  const unsigned width = model.width_of ? model.width_of(i) : model.width;

  return width == 64 ? ~0ull : (1ull << width) - 1;
}

int index_at(uint64_t at, uint64_t base, unsigned count, unsigned stride) {
  if (at < base || (at - base) % stride != 0 || (at - base) / stride >= count) return -1;
  return (int)((at - base) / stride);
}

uint64_t read_counter(struct device* d, unsigned i) {
  d->reads++;
  return d->seen[i] = d->counter[i];
}

void write_counter(struct device* d, unsigned i, uint64_t value) {
  d->seen[i] = d->counter[i] = value & mask(i);
}

static void update_line(struct device* d) {
  const bool level = !d->held && model.pending && model.pending(d);

  if (level == d->line) return;
  d->line = level;
  d->interrupts += level;
  if (d->set_line) d->set_line(d, level);
}

void device_init(struct device* d) {
  if (model.reset) model.reset(d);
}

uint64_t device_read(struct device* d, uint64_t at, unsigned size) {
  const uint64_t value = model.read(d, at, size);

  update_line(d);
  return value;
}

void device_write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  if (model.write) model.write(d, at, value, size);
  update_line(d);
}

static uint64_t limit_of(const struct device* d, unsigned i) {
  return model.limit ? model.limit(d, i) : mask(i) + 1;
}

/* Returns whether the driver must read counter i before it has counted half its range. A driver
 * takes differences modulo 2^64, so it can read a counter of 64 bits whenever it wants. */
static bool must_be_read(unsigned i) { return !model.pending && mask(i) != ~0ull; }

/* Returns how many events counter i may count after the driver has read it. */
static uint64_t most_unread(unsigned i) {
  return model.most_unread ? model.most_unread : (mask(i) >> 1) + 1;
}

/* Returns how many events counter i can count before the device must wait; 0: 2^64. */
static uint64_t space(const struct device* d, unsigned i) {
  const uint64_t most = most_unread(i);
  const uint64_t ahead = (d->counter[i] - d->seen[i]) & mask(i);

  if (model.pending) return limit_of(d, i) - d->counter[i];
  if (!must_be_read(i)) return 0;
  return most > ahead ? most - ahead : UINT64_MAX;
}

/* Returns whether counter i waits for the driver. */
static bool must_wait(const struct device* d, unsigned i) {
  return must_be_read(i) && ((d->counter[i] - d->seen[i]) & mask(i)) >= most_unread(i);
}

static uint64_t pulse(struct device* d, uint64_t n) {
  uint64_t step = n, counting = 0;

  if (d->line) return 0;
  for (unsigned i = 0; i < model.counters; i++) {
    if (!model.counts(d, i, d->code)) continue;
    counting |= 1ull << i;
    if (d->held) continue;
    if (must_wait(d, i)) return 0;
    const uint64_t left = space(d, i);
    if (left != 0 && left < step) step = left;
  }
  /* An overflow may freeze the counters, but all of them count its event. */
  for (unsigned i = 0; i < model.counters; i++) {
    if (!(counting >> i & 1)) continue;
    const uint64_t left = limit_of(d, i) - d->counter[i];
    d->counter[i] = (d->counter[i] + step) & mask(i);
    if (left != 0 && left <= step && model.overflowed) model.overflowed(d, i);
  }
  update_line(d);
  return step;
}

static uint64_t enabled_counters(const struct device* d) {
  uint64_t bits = 0;

  for (unsigned i = 0; model.enabled && i < model.counters; i++)
    bits |= (uint64_t)model.enabled(d, i) << i;
  return bits;
}

uint64_t port_read(struct device* d, uint64_t at) {
  switch (at) {
    case PORT_PAGE_ID:
      return PORT_PAGE_MAGIC;
    case PORT_PAGE_CODE:
      return d->code;
    case PORT_PAGE_PULSE:
      return d->done;
    case PORT_PAGE_LINE:
      return d->line;
    case PORT_PAGE_HOLD:
      return d->held;
    case PORT_PAGE_INTERRUPTS:
      return d->interrupts;
    case PORT_PAGE_READS:
      return d->reads;
    case PORT_PAGE_ENABLED:
      return enabled_counters(d);
    case PORT_PAGE_COUNTERS:
      return model.counters;
    case PORT_PAGE_WIDTH:
      return model.width;
    case PORT_PAGE_POLLED:
      return !model.pending;
    case PORT_PAGE_CPU:
      return d->named_cpu;
    default:
      return 0;
  }
}

void port_write(struct device* d, uint64_t at, uint64_t value) {
  switch (at) {
    case PORT_PAGE_CODE:
      d->code = value;
      break;
    case PORT_PAGE_PULSE:
      d->cpu = d->named_cpu == PORT_PAGE_CPU_CURRENT ? d->writing_cpu : d->named_cpu;
      d->done = pulse(d, value);
      break;
    case PORT_PAGE_CPU:
      d->named_cpu = value;
      break;
    case PORT_PAGE_HOLD:
      d->held = value & 1;
      update_line(d);
      break;
    case PORT_PAGE_RESET:
      d->held = false;
      d->interrupts = d->reads = 0;
      update_line(d);
      break;
    default:
      break;
  }
}
