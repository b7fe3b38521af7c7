/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PMUs of a socket of Cavium's ThunderX2, without an interrupt: eight counters of 64 bits of
 * the link between sockets (CCPI2), four of 32 bits of the L3 cache, and four of 32 bits of the
 * memory controller. Each has a page of registers, as drivers/perf/thunderx2_pmu.c and
 * Documentation/admin-guide/perf/thunderx2-pmu.rst describe them. The cache has 16 tiles and the
 * controller eight channels, to which events go in turn; the counters are those of the first one.
 * One register starts, stops and clears all counters of the link. The code of an event is its id.
 */
#include "plugin/model.h"

enum { LINK, LINKS = 8, CACHE = LINK + LINKS, CACHES = 4, MEMORY = CACHE + CACHES, MEMORIES = 4 };
enum { COUNTERS = LINKS + CACHES + MEMORIES };
enum { RUN, SELECT, TYPE, CHANNELS = TYPE + LINKS + CACHES };
enum { LINK_PAGE = 0x0000, CACHE_PAGE = 0x1000, MEMORY_PAGE = 0x2000 };
enum { RUN_ENABLE = 1, RUN_START = 2, RUN_CLEAR = 16, SELECT_COUNTER0 = 8 };
enum { TILE_BITS = 4, CHANNEL_BITS = 3 };

/* Returns the code of the event that the driver selected for counter i; 0: none. */
static uint64_t code_of(const struct device* d, unsigned i) {
  if (i < CACHE) return d->word[TYPE + i] & 0x1ff;
  if (i < MEMORY) return d->word[TYPE + i] >> 3 & 0x1f;
  return d->word[CHANNELS] >> (8 * (i - MEMORY) + 1) & 0x1f;
}

static bool enabled(const struct device* d, unsigned i) {
  const uint64_t both = RUN_ENABLE | RUN_START;

  return code_of(d, i) != 0 && (i >= CACHE || (d->word[RUN] & both) == both);
}

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  return enabled(d, i) && code_of(d, i) == code;
}

/* The lowest bits are the turn of the tile or channel, which the registers do not show. */
static unsigned turn_bits(unsigned i) {
  if (i < CACHE) return 0;
  return i < MEMORY ? TILE_BITS : CHANNEL_BITS;
}

static unsigned width_of(unsigned i) { return i < CACHE ? 64 : 32 + turn_bits(i); }

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  const int link = index_at(at, LINK_PAGE + 0x10c, LINKS, 4);
  const int type = index_at(at, CACHE_PAGE + 0xa8, CACHES, 8);
  const int cache = index_at(at, CACHE_PAGE + 0xac, CACHES, 8);
  const int memory = index_at(at, MEMORY_PAGE + 0x240, MEMORIES, 0xc);
  const unsigned selected = LINK + (unsigned)d->word[SELECT];

  (void)size;
  if (link >= 0) return d->word[TYPE + link];
  if (type >= 0) return d->word[TYPE + CACHE + type];
  if (cache >= 0) return read_counter(d, CACHE + (unsigned)cache) >> TILE_BITS;
  if (memory >= 0) return read_counter(d, MEMORY + (unsigned)memory) >> CHANNEL_BITS;
  switch (at) {
    case LINK_PAGE + 0x108:
      return d->word[RUN];
    case LINK_PAGE + 0x130:
      return (uint32_t)read_counter(d, selected);
    case LINK_PAGE + 0x134:
      return d->counter[selected] >> 32;
    case MEMORY_PAGE + 0x234:
      return d->word[CHANNELS];
    default:
      return 0;
  }
}

static void run(struct device* d, uint64_t value) {
  for (unsigned i = LINK; i < CACHE && value & RUN_CLEAR; i++) write_counter(d, i, 0);
  d->word[RUN] = value & (RUN_ENABLE | RUN_START);
}

static void set_counter(struct device* d, unsigned i, uint64_t value) {
  const unsigned bits = turn_bits(i);
  const uint64_t turn = d->counter[i] & ((1ull << bits) - 1);

  write_counter(d, i, value << bits | turn);
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  const int link = index_at(at, LINK_PAGE + 0x10c, LINKS, 4);
  const int type = index_at(at, CACHE_PAGE + 0xa8, CACHES, 8);
  const int cache = index_at(at, CACHE_PAGE + 0xac, CACHES, 8);
  const int memory = index_at(at, MEMORY_PAGE + 0x240, MEMORIES, 0xc);

  (void)size;
  if (link >= 0) d->word[TYPE + link] = value;
  if (type >= 0) d->word[TYPE + CACHE + type] = value;
  if (cache >= 0) set_counter(d, CACHE + (unsigned)cache, value);
  if (memory >= 0) set_counter(d, MEMORY + (unsigned)memory, value);
  if (at == LINK_PAGE + 0x108) run(d, value);
  if (at == LINK_PAGE + 0x12c) d->word[SELECT] = (value - SELECT_COUNTER0) % LINKS;
  if (at == MEMORY_PAGE + 0x234) d->word[CHANNELS] = value;
}

const struct model model = {.name = "thunderx2",
                            .size = 0x3000,
                            .counters = COUNTERS,
                            .width = 64,
                            .read = read,
                            .write = write,
                            .enabled = enabled,
                            .counts = counts,
                            .width_of = width_of};
