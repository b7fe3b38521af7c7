/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arm's network on a chip NI-700, with one clock domain and in it a PMU and one node of each type:
 * eight counters of 32 bits and a cycle counter of 64. Registers as drivers/perf/arm-ni.c and the
 * manual of the NI-700 describe them: nodes name their children, pairs of registers set and clear
 * bits, and each node selects its event for each counter. The code of an event is its config: the
 * type and the number of its node, and its own number from bit 32 on.
 */
#include "plugin/model.h"

enum { COUNTERS = 8, CYCLES = COUNTERS, CYCLES_BIT = 31, PAGE = 0x1000, PMU_PAGE = 4 * PAGE };
enum { CONTROL, COUNT, INTERRUPT, STATUS, TYPE, SELECT = TYPE + COUNTERS };
enum { CONTROL_ENABLE = 1, CONTROL_CLEAR = 2, CONTROL_CLEAR_CYCLES = 4 };
enum { NODE_PMU = 6, CHILDREN = 6, FIRST_CHILD = 4, NODES = FIRST_CHILD + CHILDREN };
/* The type of the node in each page: the network, three domains, and the children of the last. */
static const uint8_t types[NODES] = {0, 1, 2, 3, NODE_PMU, 4, 5, 7, 8, 9};

static uint32_t bit_of(unsigned i) { return 1u << (i == CYCLES ? CYCLES_BIT : i); }

static bool enabled(const struct device* d, unsigned i) { return d->word[COUNT] & bit_of(i); }

static bool counts(const struct device* d, unsigned i, uint64_t code) {
  if (!(d->word[CONTROL] & CONTROL_ENABLE) || !enabled(d, i)) return false;
  if (i == CYCLES) return code == NODE_PMU;
  const uint64_t type = code & 0xffff, id = code >> 16 & 0xffff, event = code >> 32;

  for (unsigned node = FIRST_CHILD + 1; node < NODES; node++)
    if (types[node] == type)
      return d->word[TYPE + i] == (type << 9 | id) &&
             (d->word[SELECT + node] >> (8 * i) & 0xff) == event;
  return false;
}

static unsigned width_of(unsigned i) { return i == CYCLES ? 64 : 32; }

static void overflowed(struct device* d, unsigned i) { d->word[STATUS] |= bit_of(i); }

static bool pending(struct device* d) { return (d->word[STATUS] & d->word[INTERRUPT]) != 0; }

static uint64_t read_pmu(struct device* d, uint64_t at) {
  const int counter = index_at(at, 0x008, COUNTERS, 8);
  const int type = index_at(at, 0x400, COUNTERS, 4);

  if (counter >= 0) return read_counter(d, (unsigned)counter);
  if (type >= 0) return d->word[TYPE + type];
  switch (at) {
    case 0x000:
      return NODE_PMU;
    case 0x0f8:
      return (uint32_t)read_counter(d, CYCLES);
    case 0x0fc:
      return d->counter[CYCLES] >> 32;
    case 0xc00:
    case 0xc20:
      return d->word[COUNT];
    case 0xc40:
    case 0xc60:
      return d->word[INTERRUPT];
    case 0xc80:
    case 0xcc0:
      return d->word[STATUS];
    case 0xe00:
      return COUNTERS; /* the configuration */
    case 0xe04:
      return d->word[CONTROL];
    default:
      return 0;
  }
}

/* The first three nodes have one child, in the next page; the children of the clock domain follow.
 */
static uint64_t read_node(const struct device* d, unsigned node, uint64_t at) {
  const unsigned children = node < FIRST_CHILD - 1 ? 1 : CHILDREN;
  const int child = index_at(at, 0x008, children, 4);

  if (at == 0x000) return types[node];
  if (node >= FIRST_CHILD) {
    if (at == 0x00c) return (uint32_t)d->word[SELECT + node];
    return at == 0x010 ? d->word[SELECT + node] >> 32 : 0;
  }
  if (at == 0x004) return children;
  if (child >= 0) return (node + 1 + (unsigned)child) * PAGE;
  if (node != 0) return 0;
  return at == 0xfe0 ? 0x3b : at == 0xfe4 ? 0xb4 : at == 0xfe8 ? 0x1b : 0; /* the part 43b, r1 */
}

static uint64_t read(struct device* d, uint64_t at, unsigned size) {
  (void)size;
  if (at / PAGE == PMU_PAGE / PAGE) return read_pmu(d, at % PAGE);
  return read_node(d, (unsigned)(at / PAGE), at % PAGE);
}

static void set_half(uint64_t* word, bool high, uint64_t value) {
  *word = high ? value << 32 | (uint32_t)*word : (*word & ~0xffffffffull) | (uint32_t)value;
}

static void write_cycles(struct device* d, bool high, uint64_t value) {
  uint64_t cycles = d->counter[CYCLES];

  set_half(&cycles, high, value);
  write_counter(d, CYCLES, cycles);
}

static void control(struct device* d, uint64_t value) {
  for (unsigned i = 0; i < COUNTERS && value & CONTROL_CLEAR; i++) write_counter(d, i, 0);
  if (value & CONTROL_CLEAR_CYCLES) write_counter(d, CYCLES, 0);
  d->word[CONTROL] = value & CONTROL_ENABLE;
}

static void write_pmu(struct device* d, uint64_t at, uint64_t value) {
  const uint64_t bits = value & (1ull << CYCLES_BIT | 0xff);
  const int counter = index_at(at, 0x008, COUNTERS, 8);
  const int type = index_at(at, 0x400, COUNTERS, 4);

  if (counter >= 0) write_counter(d, (unsigned)counter, value);
  if (type >= 0) d->word[TYPE + type] = value;
  switch (at) {
    case 0x0f8:
    case 0x0fc:
      write_cycles(d, at == 0x0fc, value);
      break;
    case 0xc00:
      d->word[COUNT] |= bits;
      break;
    case 0xc20:
      d->word[COUNT] &= ~bits;
      break;
    case 0xc40:
      d->word[INTERRUPT] |= bits;
      break;
    case 0xc60:
      d->word[INTERRUPT] &= ~bits;
      break;
    case 0xc80:
      d->word[STATUS] &= ~bits;
      break;
    case 0xcc0:
      d->word[STATUS] |= bits;
      break;
    case 0xe04:
      control(d, value);
      break;
    default:
      break;
  }
}

static void write(struct device* d, uint64_t at, uint64_t value, unsigned size) {
  const uint64_t node = at / PAGE, place = at % PAGE;

  (void)size;
  if (node == PMU_PAGE / PAGE)
    write_pmu(d, place, value);
  else if (node > FIRST_CHILD && (place == 0x00c || place == 0x010))
    set_half(&d->word[SELECT + node], place == 0x010, value);
}

const struct model model = {.name = "arm_ni",
                            .size = NODES * PAGE,
                            .counters = COUNTERS + 1,
                            .width = 32,
                            .read = read,
                            .write = write,
                            .enabled = enabled,
                            .counts = counts,
                            .overflowed = overflowed,
                            .pending = pending,
                            .width_of = width_of};
