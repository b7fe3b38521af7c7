/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Convert a perf_event_attr to a hardware request, or return the errno that rejects it. */
#ifndef REFPMU_CORE_CONFIG_H
#define REFPMU_CORE_CONFIG_H

#include "refpmu_port.h"

/* Copy of the perf_event_attr fields that core reads. Glue fills it in once. */
struct refpmu_attr {
	u32 type;
	u64 config;
	u64 config1;
	u64 config2;
	u64 config3; /* 0 on kernels whose perf_event_attr has no config3 */
	u64 sample_period; /* or sample_freq; 0: a counting event */
	u64 sample_type; /* PERF_SAMPLE_* */
	u64 branch_sample_type; /* PERF_SAMPLE_BRANCH_*; used only with PERF_SAMPLE_BRANCH_STACK */
	u8 precise_ip;
	bool freq;
	bool exclude_user;
	bool exclude_kernel;
	bool exclude_hv;
	bool exclude_idle;
	bool exclude_host;
	bool exclude_guest;
};

/* Properties of the device, and its PMU type. */
struct refpmu_caps {
	u32 own_type; /* pmu->type; PERF_TYPE_RAW when registered as "cpu" */
	u8 general; /* counters, 1 to 32 */
	u8 fixed; /* counters, 0 to 3 */
	u8 width; /* bits of a counter, 16 to 64 */
	u64 min_period; /* shortest sampling period that the device supports, at least 1 */
	u8 lbr; /* depth of the branch record stack; 0: none */
	bool records; /* has precise records, load latency and off-core response */
	bool work; /* counts calls, returns, taken branches and store misses */
};

/* Largest precise_ip of a device with records. */
#define REFPMU_PRECISE_MAX 3

/* Counter numbers and sets: general counter i is bit i, fixed counter i is bit 32 + i. */
#define REFPMU_FIXED_BASE 32
#define REFPMU_MAX_COUNTERS 64

/* Type of a register that an event needs in addition to its counter. */
enum refpmu_extra {
	REFPMU_EXTRA_NONE,
	REFPMU_EXTRA_OFFCORE, /* OFFCORE_RSP 0 or 1; the register determines the event code */
	REFPMU_EXTRA_LOAD_LATENCY, /* LD_LAT */
	REFPMU_EXTRA_MAX,
};

/* Hardware resources and settings of an accepted event. */
struct refpmu_request {
	u64 evtsel; /* event, unit mask, EDGE, INV, CMASK, USR, OS, INT; EN is not included */
	u64 allowed; /* counters that can count the event; never empty */
	u64 preferred; /* subset of allowed to be tried first (fixed counters) */
	/*
	 * first period: the sampling period, min_period for a frequency, otherwise half the counter
	 * range
	 */
	u64 period;
	u64 extra_value; /* of the extra register */
	/* REFPMU_PEBS_DATA_*: groups of fields that a precise event needs in its records */
	u64 record;
	u64 branch_select; /* value of LBR_SELECT: branch types that the device does not record */
	u64 branch_filter; /* branch_sample_type as accepted; 0 without branch records */
	bool sampling;
	bool freq;
	bool wide; /* also needs the following odd counter; allowed then has only even counters */
	u8 extra; /* enum refpmu_extra */
	u8 precise; /* precise_ip: 0 to 3 */
	bool branches; /* samples carry branch records */
};

/**
 * refpmu_config_parse() - Convert an attr to a hardware request.
 * @attr: The attr of the event to open.
 * @caps: Properties of the device.
 * @req: The request; written only on success.
 *
 * Source: include/linux/perf_event.h at pmu.event_init, which defines the meaning of each errno;
 * perf_event_open(2), "ERRORS".
 *
 * Return: 0; -ENOENT if the type or the generic event belongs to another PMU; -EINVAL if @attr is
 * malformed; -EOPNOTSUPP if @attr is well-formed but the device does not support it.
 */
int refpmu_config_parse(const struct refpmu_attr *attr, const struct refpmu_caps *caps,
			struct refpmu_request *req);

/**
 * refpmu_config_branch_select() - Convert a branch_sample_type to a value of LBR_SELECT.
 * @filter: A branch_sample_type that selects at least one branch type.
 *
 * Return: The value of LBR_SELECT.
 */
u64 refpmu_config_branch_select(u64 filter);

/**
 * refpmu_config_check_period() - Check the period of a sampling event.
 * @period: The period; not a frequency.
 * @caps: Properties of the device.
 *
 * Return: 0, or -EINVAL if the event may not have this period.
 */
int refpmu_config_check_period(u64 period, const struct refpmu_caps *caps);

#endif /* REFPMU_CORE_CONFIG_H */
