/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first box of the last level cache of a Skylake: four counters of 44 bits and one for cycles,
 * of 48 bits, in MSRs. The driver does not use their interrupt. MSRs as
 * arch/x86/events/intel/uncore_snb.c and Intel's Software Developer's Manual (volume 3B, "Uncore
 * Performance Monitoring") describe them. The code of an event has its number in bits 0 to 7 and
 * its unit mask in bits 8 to 15; 0xff is the cycles.
 */
#include "plugin/model.h"

enum { BYTES = 8, GENERAL = 4, FIXED = GENERAL, COUNTERS = GENERAL + 1, CYCLES = 0xff };
enum { SELECTOR = 0x700, COUNTER = 0x706, FIXED_CONTROL = 0x394, FIXED_COUNTER = 0x395 };
enum { GLOBAL = 0xe01, GLOBAL_ENABLE = 1 << 29, ENABLE = 1 << 22, CONDITIONS = 0x1f840000 };
enum { GLOBAL_WORD = COUNTERS };

static bool enabled(const struct device* d, unsigned i) { return (d->word[i] & ENABLE) != 0; }

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  if (!(d->word[GLOBAL_WORD] & GLOBAL_ENABLE) || !enabled(d, i)) return false;
  if (i == FIXED) return code == CYCLES;
  return (d->word[i] & 0xffff) == code && !(d->word[i] & CONDITIONS);
}

static unsigned width_of(unsigned i) { return i == FIXED ? 48 : 44; }

/* Returns the word of a control register; -1: it is none. */
static int word_at(uint64_t at) {
  if (at == GLOBAL * BYTES) return GLOBAL_WORD;
  return at == FIXED_CONTROL * BYTES ? FIXED : index_at(at, SELECTOR * BYTES, GENERAL, BYTES);
}

static int counter_at(uint64_t at) {
  return at == FIXED_COUNTER * BYTES ? FIXED : index_at(at, COUNTER * BYTES, GENERAL, BYTES);
}

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  const int word = word_at(at), counter = counter_at(at);

  (void)size;
  if (counter >= 0) return read_counter(d, (unsigned)counter);
  return word < 0 ? 0 : d->word[word];
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  const int word = word_at(at), counter = counter_at(at);

  (void)size;
  if (word >= 0) d->word[word] = value;
  if (counter >= 0) write_counter(d, (unsigned)counter, value);
}

const struct model model = {.name = "skl_cbox",
                            .size = 0x81000,
                            .counters = COUNTERS,
                            .width = 44,
                            .read = read,
                            .write = write,
                            .enabled = enabled,
                            .counts = counts,
                            .width_of = width_of};
