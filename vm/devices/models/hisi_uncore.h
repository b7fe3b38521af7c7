/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape that the uncore PMUs of HiSilicon's Kunpeng have in common, as
 * drivers/perf/hisilicon/hisi_uncore_pmu.c uses it: eight counters, and registers whose addresses
 * differ. A bit of the mask is 1 if the interrupt of a counter is off, and a write to `clear`
 * acknowledges it. The code of an event is its config.
 */
#ifndef PMUCONF_DEVICES_HISI_UNCORE_H_
#define PMUCONF_DEVICES_HISI_UNCORE_H_

#include "plugin/model.h"

enum { HISI_COUNTERS = 8, HISI_SIZE = 0x2000 };
enum { CONTROL, COUNT, MASK, STATUS, TYPE };

/* The addresses of the registers. Each model defines one. */
struct hisi {
  uint64_t run;            /* the bit of `control` that starts the counters */
  uint64_t control, count; /* they may be one register */
  uint64_t type;
  unsigned type_bits; /* 8: a register has the types of four counters; 32 */
  uint64_t counter, mask, status, clear, version, identifier;
};
static const struct hisi hisi;

static unsigned control_word(void) { return hisi.control == hisi.count ? COUNT : CONTROL; }

static bool enabled(const struct device* d, unsigned i) { return (d->word[COUNT] >> i & 1) != 0; }

static uint64_t type_of(const struct device* d, unsigned i) {
  if (hisi.type_bits == 32) return d->word[TYPE + i];
  return d->word[TYPE + i / 4] >> (8 * (i % 4)) & 0xff;
}

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  return (d->word[control_word()] & hisi.run) && enabled(d, i) && type_of(d, i) == code;
}

static void overflowed(struct device* d, unsigned i) { d->word[STATUS] |= 1ull << i; }

static bool pending(struct device* d) { return (d->word[STATUS] & ~d->word[MASK]) != 0; }

/* Returns the number of the word that a register at `at` has, or -1. */
static int word_at(uint64_t at) {
  const int type = index_at(at, hisi.type, HISI_COUNTERS * hisi.type_bits / 32, 4);

  if (at == hisi.control) return (int)control_word();
  if (at == hisi.count) return COUNT;
  if (at == hisi.mask) return MASK;
  return type < 0 ? -1 : TYPE + type;
}

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  const int counter = index_at(at, hisi.counter, HISI_COUNTERS, 8);
  const int word = word_at(at);

  (void)size;
  if (counter >= 0) return read_counter(d, (unsigned)counter);
  if (word >= 0) return d->word[word];
  if (at == hisi.status) return d->word[STATUS];
  return at == hisi.version ? hisi.identifier : 0;
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  const int counter = index_at(at, hisi.counter, HISI_COUNTERS, 8);
  const int word = word_at(at);

  (void)size;
  if (counter >= 0) write_counter(d, (unsigned)counter, value);
  if (word >= 0) d->word[word] = value;
  if (at == hisi.clear) d->word[STATUS] &= ~value;
}

#define HISI_MODEL(NAME, WIDTH)                          \
  const struct model model = {.name = NAME,              \
                              .size = HISI_SIZE,         \
                              .counters = HISI_COUNTERS, \
                              .width = WIDTH,            \
                              .read = read,              \
                              .write = write,            \
                              .enabled = enabled,        \
                              .counts = counts,          \
                              .overflowed = overflowed,  \
                              .pending = pending}

#endif /* PMUCONF_DEVICES_HISI_UNCORE_H_ */
