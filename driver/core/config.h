/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* From a perf_event_attr to what the hardware is asked to do, or to the errno that refuses it. */
#ifndef REFPMU_CORE_CONFIG_H
#define REFPMU_CORE_CONFIG_H

#include "refpmu_port.h"

/* The fields of struct perf_event_attr that decide; filled in once, by the caller. */
struct refpmu_attr {
	u32 type;
	u64 config;
	u64 config1;
	u64 config2;
	u64 config3; /* 0 on kernels whose attr ends before it */
	u64 sample_period; /* or sample_freq; 0: a counting event */
	u64 sample_type; /* PERF_SAMPLE_* */
	u64 branch_sample_type; /* PERF_SAMPLE_BRANCH_*; matters with PERF_SAMPLE_BRANCH_STACK */
	u8 precise_ip;
	bool freq;
	bool exclude_user;
	bool exclude_kernel;
	bool exclude_hv;
	bool exclude_idle;
	bool exclude_host;
	bool exclude_guest;
};

/* The device and its place among the PMUs. */
struct refpmu_caps {
	u32 own_type; /* pmu->type; PERF_TYPE_RAW when registered as "cpu" */
	u8 general; /* counters, 1 to 32 */
	u8 fixed; /* counters, 0 to 3 */
	u8 width; /* bits of a counter, 16 to 64 */
	u64 min_period; /* shortest sampling period the device takes, at least 1 */
	u8 lbr; /* depth of the branch record stack; 0: none */
	bool records; /* precise records, load latency and off-core response are there */
};

/* Of precise_ip; with the records to keep it. */
#define REFPMU_PRECISE_MAX 3

/* Counter numbers and sets: general counter i is bit i, fixed counter i is bit 32 + i. */
#define REFPMU_FIXED_BASE 32
#define REFPMU_MAX_COUNTERS 64

/* A register that an event needs beside its counter. */
enum refpmu_extra {
	REFPMU_EXTRA_NONE,
	REFPMU_EXTRA_OFFCORE, /* OFFCORE_RSP 0 or 1; the event code follows the register */
	REFPMU_EXTRA_LOAD_LATENCY, /* LD_LAT */
	REFPMU_EXTRA_MAX,
};

/* What an accepted event needs of the device. */
struct refpmu_request {
	u64 evtsel; /* event, unit mask, EDGE, INV, CMASK, USR, OS, INT; EN is not in it */
	u64 allowed; /* counters that can count it; never empty */
	u64 preferred; /* subset of allowed to be tried first (fixed counters) */
	u64 period; /* first one: the sampling period; min_period of a frequency; else half range */
	u64 extra_value; /* of the extra register */
	u64 record; /* REFPMU_PEBS_DATA_* that a precise event's samples are made of */
	u64 branch_select; /* LBR_SELECT: what the device leaves out already */
	u64 branch_filter; /* branch_sample_type as accepted; 0 without branches */
	bool sampling;
	bool freq;
	bool wide; /* takes the odd neighbour too; allowed holds even counters alone */
	u8 extra; /* enum refpmu_extra */
	u8 precise; /* precise_ip: 0 to 3 */
	bool branches; /* samples carry branch records */
};

/*
 * Translate @attr for @caps into @req. Returns 0; -ENOENT if the type, or the generic event, is
 * not this PMU's; -EINVAL for one that is malformed; -EOPNOTSUPP for one that is well-formed and
 * that this PMU does not do. @req is written only on success.
 * Source: include/linux/perf_event.h at pmu.event_init, for which errno means what;
 * perf_event_open(2), "ERRORS".
 */
int refpmu_config_parse(const struct refpmu_attr *attr, const struct refpmu_caps *caps,
			struct refpmu_request *req);

/* LBR_SELECT for @filter, a branch_sample_type with at least one bit that is a kind of branch. */
u64 refpmu_config_branch_select(u64 filter);

/* 0 if @period, which is no frequency, may be set on a sampling event, else -EINVAL. */
int refpmu_config_check_period(u64 period, const struct refpmu_caps *caps);

#endif /* REFPMU_CORE_CONFIG_H */
