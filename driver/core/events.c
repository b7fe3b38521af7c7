// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Events of the device: codes, names, and the generic events that they implement. */
#include "events.h"

/* Values of the perf ABI (perf_event_open(2)). Core may not include the kernel's header. */
#define GENERIC_MAX 10
#define CACHE_MAX 7
#define CACHE_OP_MAX 3
#define CACHE_RESULT_MAX 2

enum { L1D, L1I, LL, DTLB, ITLB, BPU, NODE };
enum { LOAD, STORE, PREFETCH };
enum { ACCESS, MISS };

/* Codes that only the driver defines. The device counts any code that a stimulus generates. */
#define EVENT_PULSE_A 0x01d0
#define EVENT_PULSE_B 0x01d1
#define EVENT_PULSE_C 0x01d2
#define EVENT_PULSE_D 0x01d3
#define EVENT_LLC_REFERENCES 0x4f2e
#define EVENT_LLC_MISSES 0x412e
#define EVENT_UOPS_EXECUTED 0x01b1
#define EVENT_DTLB_LOAD_WALKS 0x0e08
#define EVENT_DTLB_STORE_WALKS 0x0e49
#define EVENT_ITLB_LOOKUPS 0x2085
#define EVENT_ITLB_WALKS 0x0e85

/* Cycles without an event (IDLE_OF); cycles in which an event starts (EDGES_OF). */
#define AT_LEAST_ONE ((u32)BIT_ULL(REFPMU_EVTSEL_CMASK_SHIFT))
#define IDLE_OF(code) ((code) | REFPMU_EVTSEL_INV | AT_LEAST_ONE)
#define EDGES_OF(code) ((code) | REFPMU_EVTSEL_EDGE | AT_LEAST_ONE)

/* Fields of OFFCORE_RSP: types of requests, and sources of the response. */
#define DEMAND_READ BIT_ULL(0)
#define DEMAND_WRITE BIT_ULL(1)
#define PREFETCH_READ BIT_ULL(4)
#define LLC_HIT GENMASK_ULL(21, 18)
#define LOCAL_MEMORY BIT_ULL(22)
#define REMOTE_MEMORY GENMASK_ULL(30, 23)
#define ANY_SNOOP GENMASK_ULL(37, 31)
#define FROM_MEMORY (LOCAL_MEMORY | REMOTE_MEMORY | ANY_SNOOP)
#define FROM_ANYWHERE (LLC_HIT | FROM_MEMORY)

/* General counters that can count a code. A fixed counter may count it too. */
enum reach { ANYWHERE, FIRST_TWO, LAST, PAIRS, WITH_RECORDS, WITH_WORK };

static const struct {
	u16 code;
	u8 reach; /* enum reach */
} codes[] = {
	{ REFPMU_EVENT_CYCLES, ANYWHERE },
	{ REFPMU_EVENT_INSTRUCTIONS, ANYWHERE },
	{ REFPMU_EVENT_REF_CYCLES, ANYWHERE },
	{ EVENT_PULSE_A, ANYWHERE },
	{ EVENT_PULSE_B, ANYWHERE },
	{ EVENT_PULSE_C, FIRST_TWO },
	{ EVENT_PULSE_D, LAST },
	{ REFPMU_EVENT_WIDE, PAIRS },
	{ REFPMU_EVENT_BRANCHES, ANYWHERE },
	{ REFPMU_EVENT_BRANCH_MISSES, ANYWHERE },
	{ REFPMU_EVENT_CALLS, WITH_WORK },
	{ REFPMU_EVENT_RETURNS, WITH_WORK },
	{ REFPMU_EVENT_TAKEN, WITH_WORK },
	{ REFPMU_EVENT_OFFCORE_0, WITH_RECORDS },
	{ REFPMU_EVENT_OFFCORE_1, WITH_RECORDS },
	{ REFPMU_EVENT_LOAD_LATENCY, WITH_RECORDS },
	{ EVENT_LLC_REFERENCES, ANYWHERE },
	{ EVENT_LLC_MISSES, ANYWHERE },
	{ EVENT_UOPS_EXECUTED, ANYWHERE },
	{ REFPMU_EVENT_LOADS, ANYWHERE },
	{ REFPMU_EVENT_STORES, ANYWHERE },
	{ REFPMU_EVENT_L1D_LOAD_MISSES, ANYWHERE },
	{ REFPMU_EVENT_L1D_STORE_MISSES, WITH_WORK },
	{ REFPMU_EVENT_L1I_MISSES, ANYWHERE },
	{ EVENT_DTLB_LOAD_WALKS, ANYWHERE },
	{ EVENT_DTLB_STORE_WALKS, ANYWHERE },
	{ EVENT_ITLB_LOOKUPS, ANYWHERE },
	{ EVENT_ITLB_WALKS, ANYWHERE },
};

const struct refpmu_event refpmu_events[] = {
	{ "cycles", { REFPMU_EVENT_CYCLES, 0 }, NULL, NULL },
	{ "instructions", { REFPMU_EVENT_INSTRUCTIONS, 0 }, NULL, NULL },
	{ "ref-cycles", { REFPMU_EVENT_REF_CYCLES, 0 }, NULL, NULL },
	{ "pulse_a", { EVENT_PULSE_A, 0 }, NULL, NULL },
	{ "pulse_b", { EVENT_PULSE_B, 0 }, NULL, NULL },
	{ "pulse_c", { EVENT_PULSE_C, 0 }, NULL, NULL },
	{ "pulse_d", { EVENT_PULSE_D, 0 }, NULL, NULL },
	{ "cache-references", { EVENT_LLC_REFERENCES, 0 }, NULL, NULL },
	{ "cache-misses", { EVENT_LLC_MISSES, 0 }, NULL, NULL },
	{ "branches", { REFPMU_EVENT_BRANCHES, 0 }, NULL, NULL },
	{ "branch-misses", { REFPMU_EVENT_BRANCH_MISSES, 0 }, NULL, NULL },
	/* A bus cycle begins with an edge of the reference clock. */
	{ "bus-cycles", { EDGES_OF(REFPMU_EVENT_REF_CYCLES), 0 }, NULL, NULL },
	{ "stalled-cycles-frontend", { IDLE_OF(REFPMU_EVENT_INSTRUCTIONS), 0 }, NULL, NULL },
	{ "stalled-cycles-backend", { IDLE_OF(EVENT_UOPS_EXECUTED), 0 }, NULL, NULL },
	{ "wide", { REFPMU_EVENT_WIDE, 0 }, NULL, NULL },
	{ "mem-loads", { REFPMU_EVENT_LOAD_LATENCY, 3 }, NULL, NULL },
	/* The event counts lines of 64 bytes; perf prints MiB. */
	{ "offcore-reads",
	  { REFPMU_EVENT_OFFCORE_0, DEMAND_READ | PREFETCH_READ | FROM_ANYWHERE },
	  "6.103515625e-5",
	  "MiB" },
};

const unsigned int refpmu_events_count = ARRAY_SIZE(refpmu_events);

/* PERF_COUNT_HW_*: the device has all of them. */
static const struct {
	u8 id;
	struct refpmu_encoding encoding;
} generic_events[] = {
	{ 0, { REFPMU_EVENT_CYCLES, 0 } },
	{ 1, { REFPMU_EVENT_INSTRUCTIONS, 0 } },
	{ 2, { EVENT_LLC_REFERENCES, 0 } },
	{ 3, { EVENT_LLC_MISSES, 0 } },
	{ 4, { REFPMU_EVENT_BRANCHES, 0 } },
	{ 5, { REFPMU_EVENT_BRANCH_MISSES, 0 } },
	{ 6, { EDGES_OF(REFPMU_EVENT_REF_CYCLES), 0 } },
	{ 7, { IDLE_OF(REFPMU_EVENT_INSTRUCTIONS), 0 } },
	{ 8, { IDLE_OF(EVENT_UOPS_EXECUTED), 0 } },
	{ 9, { REFPMU_EVENT_REF_CYCLES, 0 } },
};

/* PERF_COUNT_HW_CACHE_*. Combinations that are not listed are meaningless or not supported. */
static const struct {
	u8 cache;
	u8 op;
	u8 result;
	struct refpmu_encoding encoding;
} cache_events[] = {
	{ L1D, LOAD, ACCESS, { REFPMU_EVENT_LOADS, 0 } },
	{ L1D, LOAD, MISS, { REFPMU_EVENT_L1D_LOAD_MISSES, 0 } },
	{ L1D, STORE, ACCESS, { REFPMU_EVENT_STORES, 0 } },
	{ L1I, LOAD, MISS, { REFPMU_EVENT_L1I_MISSES, 0 } },
	{ LL, LOAD, ACCESS, { REFPMU_EVENT_OFFCORE_0, DEMAND_READ | FROM_ANYWHERE } },
	{ LL, LOAD, MISS, { REFPMU_EVENT_OFFCORE_0, DEMAND_READ | FROM_MEMORY } },
	{ LL, STORE, ACCESS, { REFPMU_EVENT_OFFCORE_0, DEMAND_WRITE | FROM_ANYWHERE } },
	{ LL, STORE, MISS, { REFPMU_EVENT_OFFCORE_0, DEMAND_WRITE | FROM_MEMORY } },
	{ LL, PREFETCH, ACCESS, { REFPMU_EVENT_OFFCORE_0, PREFETCH_READ | FROM_ANYWHERE } },
	{ LL, PREFETCH, MISS, { REFPMU_EVENT_OFFCORE_0, PREFETCH_READ | FROM_MEMORY } },
	{ DTLB, LOAD, ACCESS, { REFPMU_EVENT_LOADS, 0 } },
	{ DTLB, LOAD, MISS, { EVENT_DTLB_LOAD_WALKS, 0 } },
	{ DTLB, STORE, ACCESS, { REFPMU_EVENT_STORES, 0 } },
	{ DTLB, STORE, MISS, { EVENT_DTLB_STORE_WALKS, 0 } },
	{ ITLB, LOAD, ACCESS, { EVENT_ITLB_LOOKUPS, 0 } },
	{ ITLB, LOAD, MISS, { EVENT_ITLB_WALKS, 0 } },
	{ BPU, LOAD, ACCESS, { REFPMU_EVENT_BRANCHES, 0 } },
	{ BPU, LOAD, MISS, { REFPMU_EVENT_BRANCH_MISSES, 0 } },
	{ NODE, LOAD, ACCESS, { REFPMU_EVENT_OFFCORE_0, DEMAND_READ | FROM_MEMORY } },
	{ NODE, LOAD, MISS, { REFPMU_EVENT_OFFCORE_0, DEMAND_READ | REMOTE_MEMORY | ANY_SNOOP } },
	{ NODE, STORE, ACCESS, { REFPMU_EVENT_OFFCORE_0, DEMAND_WRITE | FROM_MEMORY } },
	{ NODE, STORE, MISS, { REFPMU_EVENT_OFFCORE_0, DEMAND_WRITE | REMOTE_MEMORY | ANY_SNOOP } },
};

/* Return the fixed counter that counts @config, as a set; empty if none does. */
static u64 fixed_for(u64 config, const struct refpmu_caps *caps)
{
	unsigned int i;

	switch (config) {
	case REFPMU_EVENT_INSTRUCTIONS:
		i = 0;
		break;
	case REFPMU_EVENT_CYCLES:
		i = 1;
		break;
	case REFPMU_EVENT_REF_CYCLES:
		i = 2;
		break;
	default:
		return 0;
	}
	return i < caps->fixed ? BIT_ULL(REFPMU_FIXED_BASE + i) : 0;
}

u64 refpmu_events_counters(u64 config, const struct refpmu_caps *caps)
{
	const u64 general = refpmu_low_bits(caps->general);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		if (codes[i].code == (config & REFPMU_EVTSEL_CODE))
			break;
	}
	if (i == ARRAY_SIZE(codes))
		return 0;

	switch (codes[i].reach) {
	case FIRST_TWO:
		return general & refpmu_low_bits(2);
	case LAST:
		return general & ~(general >> 1);
	case PAIRS:
		return general & (general >> 1) & 0x55555555;
	case WITH_RECORDS:
		return caps->records ? general : 0;
	case WITH_WORK:
		return caps->work ? general : 0;
	default:
		return general |
		       fixed_for(config & (REFPMU_EVTSEL_CODE | REFPMU_EVTSEL_FILTER), caps);
	}
}

u8 refpmu_events_extra(u16 code, u64 *valid)
{
	switch (code) {
	case REFPMU_EVENT_OFFCORE_0:
	case REFPMU_EVENT_OFFCORE_1:
		*valid = REFPMU_OFFCORE_RSP_MASK;
		return REFPMU_EXTRA_OFFCORE;
	case REFPMU_EVENT_LOAD_LATENCY:
		*valid = REFPMU_LD_LAT_MASK;
		return REFPMU_EXTRA_LOAD_LATENCY;
	default:
		*valid = 0;
		return REFPMU_EXTRA_NONE;
	}
}

/*
 * The function searches for the id instead of using it as an index, so that a speculative access
 * out of bounds is not possible.
 */
int refpmu_events_generic(u64 id, struct refpmu_encoding *encoding)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(generic_events); i++) {
		if (generic_events[i].id == id) {
			*encoding = generic_events[i].encoding;
			return 0;
		}
	}
	return id < GENERIC_MAX ? -ENOENT : -EINVAL;
}

int refpmu_events_cache(u64 id, struct refpmu_encoding *encoding)
{
	const u64 cache = id & 0xff, op = id >> 8 & 0xff, result = id >> 16;
	unsigned int i;

	if (cache >= CACHE_MAX || op >= CACHE_OP_MAX || result >= CACHE_RESULT_MAX)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(cache_events); i++) {
		if (cache_events[i].cache == cache && cache_events[i].op == op &&
		    cache_events[i].result == result) {
			*encoding = cache_events[i].encoding;
			return 0;
		}
	}
	return -ENOENT;
}
