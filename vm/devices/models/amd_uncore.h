/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape that the uncore PMUs of AMD's processors have in common: pairs of MSRs, a selector and
 * a counter of 48 bits, which RDPMC reads, too. There is no interrupt. MSRs as
 * arch/x86/events/amd/uncore.c and AMD's Processor Programming Reference (family 17h) describe
 * them. The code of an event has its number in bits 0 to 7 and its unit mask in bits 8 to 15.
 */
#ifndef PMUCONF_DEVICES_AMD_UNCORE_H_
#define PMUCONF_DEVICES_AMD_UNCORE_H_

#include "plugin/model.h"

enum { REGISTER = 8, MSRS = 0x10000, ENABLE = 1 << 22 };

/* The numbers of a PMU. Each model defines them. */
struct amd {
  uint64_t msr; /* the low 16 bits of the first selector */
  unsigned rdpmc, counters;
  uint64_t slices, threads; /* masks in the selector, of which some bit must be set; 0: none */
};
static const struct amd amd;

static bool enabled(const struct device* d, unsigned i) { return (d->word[i] & ENABLE) != 0; }

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  const uint64_t selector = d->word[i];
  const bool sources =
      (!amd.slices || selector & amd.slices) && (!amd.threads || selector & amd.threads);

  return enabled(d, i) && sources && (selector & 0xffff) == code && !(selector >> 32 & 0xf);
}

static int pair_at(uint64_t at) {
  return index_at(at & ~(uint64_t)REGISTER, amd.msr * REGISTER, amd.counters, 2 * REGISTER);
}

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  const int counter = index_at(at, (MSRS + amd.rdpmc) * REGISTER, amd.counters, REGISTER);
  const int pair = pair_at(at);

  (void)size;
  if (counter >= 0) return read_counter(d, (unsigned)counter);
  if (pair < 0) return 0;
  return at & REGISTER ? read_counter(d, (unsigned)pair) : d->word[pair];
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  const int pair = pair_at(at);

  (void)size;
  if (pair < 0) return;
  if (at & REGISTER)
    write_counter(d, (unsigned)pair, value);
  else
    d->word[pair] = value;
}

#define AMD_MODEL(model_name, n)                  \
  const struct model model = {.name = model_name, \
                              .size = 0x81000,    \
                              .counters = n,      \
                              .width = 48,        \
                              .read = read,       \
                              .write = write,     \
                              .enabled = enabled, \
                              .counts = counts}

#endif /* PMUCONF_DEVICES_AMD_UNCORE_H_ */
