// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Convert a perf_event_attr to a hardware request, or return the errno that rejects it. */
#include "config.h"

#include "../model/registers.h"
#include "branch.h"
#include "events.h"
#include "period.h"

/* Values of the perf ABI (perf_event_open(2)). Core may not include the kernel's header. */
#define TYPE_HARDWARE 0
#define TYPE_HW_CACHE 3
#define TYPE_RAW 4

#define SAMPLE_ADDR BIT_ULL(3)
#define SAMPLE_BRANCH_STACK BIT_ULL(11)
#define SAMPLE_WEIGHT BIT_ULL(14)
#define SAMPLE_DATA_SRC BIT_ULL(15)
#define SAMPLE_TRANSACTION BIT_ULL(17)
#define SAMPLE_REGS_INTR BIT_ULL(18)
#define SAMPLE_PHYS_ADDR BIT_ULL(19)
#define SAMPLE_DATA_PAGE_SIZE BIT_ULL(22)
#define SAMPLE_WEIGHT_STRUCT BIT_ULL(24)
/* perf derives the physical address and the page size from the sampled address. */
#define SAMPLE_MEMORY                                                                         \
	(SAMPLE_ADDR | SAMPLE_WEIGHT | SAMPLE_DATA_SRC | SAMPLE_TRANSACTION |                 \
	 SAMPLE_WEIGHT_STRUCT | SAMPLE_PHYS_ADDR | SAMPLE_DATA_PAGE_SIZE)

/* Bits 14 to 18 select fields of a branch entry: flags, cycles, type, index, privilege. */
#define BRANCH_KNOWN refpmu_low_bits(19)
#define BRANCH_KINDS                                                                          \
	(REFPMU_WANT_BRANCH_ANY | REFPMU_WANT_BRANCH_ANY_CALL |                               \
	 REFPMU_WANT_BRANCH_ANY_RETURN | REFPMU_WANT_BRANCH_IND_CALL |                        \
	 REFPMU_WANT_BRANCH_ABORT_TX | REFPMU_WANT_BRANCH_IN_TX | REFPMU_WANT_BRANCH_NO_TX |  \
	 REFPMU_WANT_BRANCH_COND | REFPMU_WANT_BRANCH_CALL_STACK |                            \
	 REFPMU_WANT_BRANCH_IND_JUMP | REFPMU_WANT_BRANCH_CALL)

/* All bits of config that the files in format/ cover. */
#define CONFIG_FORMATS (REFPMU_EVTSEL_CODE | REFPMU_EVTSEL_FILTER)

int refpmu_config_check_period(u64 period, const struct refpmu_caps *caps)
{
	if (!period || period < caps->min_period || period > refpmu_low_bits(63))
		return -EINVAL;
	return 0;
}

/* Find the code and config1 of the event: from the raw config, or from the generic event tables. */
static int event_encoding(const struct refpmu_attr *attr, const struct refpmu_caps *caps,
			  struct refpmu_encoding *encoding)
{
	const bool own = attr->type == caps->own_type || attr->type == TYPE_RAW;

	if (!own && attr->type != TYPE_HARDWARE && attr->type != TYPE_HW_CACHE)
		return -ENOENT;
	/* Reject fields without a meaning, so that a later version can give them one. */
	if (attr->config2 || attr->config3 || (attr->config1 && !own))
		return -EINVAL;
	/*
	 * perf selects the PMU by the upper half of a generic config and then clears that half. A
	 * nonzero upper half here means a malformed config.
	 */
	if (!own)
		return attr->type == TYPE_HARDWARE ? refpmu_events_generic(attr->config, encoding) :
						     refpmu_events_cache(attr->config, encoding);
	if (attr->config & ~CONFIG_FORMATS)
		return -EINVAL;
	*encoding = (struct refpmu_encoding){ (u32)attr->config, attr->config1 };
	return 0;
}

/* Set the fields that depend on the event code: its counters and its extra register. */
static int set_event(const struct refpmu_encoding *encoding, const struct refpmu_caps *caps,
		     struct refpmu_request *req)
{
	const u16 code = encoding->config & REFPMU_EVTSEL_CODE;
	u64 valid;

	/* Without a threshold (CMASK) there is no comparison that INV could invert. */
	if ((encoding->config & REFPMU_EVTSEL_INV) && !(encoding->config & REFPMU_EVTSEL_CMASK))
		return -EINVAL;
	req->extra = refpmu_events_extra(code, &valid);
	if (encoding->config1 & ~valid)
		return -EINVAL;
	req->extra_value = encoding->config1;
	req->wide = code == REFPMU_EVENT_WIDE;
	req->evtsel = encoding->config;
	req->allowed = refpmu_events_counters(encoding->config, caps);
	req->preferred = req->allowed & ~refpmu_low_bits(REFPMU_FIXED_BASE);
	return req->allowed ? 0 : -EINVAL;
}

static int set_period(const struct refpmu_attr *attr, const struct refpmu_caps *caps,
		      struct refpmu_request *req)
{
	req->sampling = attr->sample_period != 0;
	req->freq = req->sampling && attr->freq;
	if (!req->sampling) {
		req->period = refpmu_period_counting(caps->width);
		return 0;
	}
	if (req->freq) {
		/* sample_freq shares a union with sample_period. A frequency has no minimum. */
		req->period = caps->min_period;
		return 0;
	}
	req->period = attr->sample_period;
	return refpmu_config_check_period(attr->sample_period, caps);
}

u64 refpmu_config_branch_select(u64 filter)
{
	/* Branch types that the device can filter. Software filters by all other criteria. */
	static const struct {
		u64 filter;
		u64 kinds;
	} map[] = {
		{ REFPMU_WANT_BRANCH_ANY_CALL,
		  REFPMU_LBR_NOT_REL_CALL | REFPMU_LBR_NOT_IND_CALL | REFPMU_LBR_NOT_FAR },
		{ REFPMU_WANT_BRANCH_ANY_RETURN, REFPMU_LBR_NOT_RET | REFPMU_LBR_NOT_FAR },
		{ REFPMU_WANT_BRANCH_IND_CALL, REFPMU_LBR_NOT_IND_CALL },
		{ REFPMU_WANT_BRANCH_COND, REFPMU_LBR_NOT_JCC },
		{ REFPMU_WANT_BRANCH_CALL_STACK,
		  REFPMU_LBR_NOT_REL_CALL | REFPMU_LBR_NOT_IND_CALL | REFPMU_LBR_NOT_RET },
		{ REFPMU_WANT_BRANCH_IND_JUMP, REFPMU_LBR_NOT_IND_JMP },
		{ REFPMU_WANT_BRANCH_CALL, REFPMU_LBR_NOT_REL_CALL },
	};
	const u64 all = REFPMU_LBR_SELECT_MASK & ~REFPMU_LBR_CALL_STACK;
	u64 wanted = 0, mapped = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(map); i++) {
		mapped |= map[i].filter;
		if (filter & map[i].filter)
			wanted |= map[i].kinds;
	}
	/* An abort may have any branch type. IN_TX or NO_TX without a type requests all types. */
	if ((filter & (REFPMU_WANT_BRANCH_ANY | REFPMU_WANT_BRANCH_ABORT_TX)) || !(filter & mapped))
		wanted = all;
	wanted &= ~(REFPMU_LBR_NOT_KERNEL | REFPMU_LBR_NOT_USER);
	if (filter & REFPMU_WANT_BRANCH_KERNEL)
		wanted |= REFPMU_LBR_NOT_KERNEL;
	if (filter & REFPMU_WANT_BRANCH_USER)
		wanted |= REFPMU_LBR_NOT_USER;
	if (filter & REFPMU_WANT_BRANCH_CALL_STACK)
		return (all & ~wanted) | REFPMU_LBR_CALL_STACK;
	return all & ~wanted;
}

static int set_branches(const struct refpmu_attr *attr, const struct refpmu_caps *caps,
			struct refpmu_request *req)
{
	const u64 filter = attr->branch_sample_type;
	const u64 kinds = filter & BRANCH_KINDS;

	if (!(attr->sample_type & SAMPLE_BRANCH_STACK))
		return 0;
	/* The device cannot log counter values with branches (PERF_SAMPLE_BRANCH_COUNTERS). */
	if (!caps->lbr || (filter & ~BRANCH_KNOWN))
		return -EOPNOTSUPP;
	/*
	 * A request without a branch type records nothing. CALL_STACK cannot be combined with other
	 * types because it turns the LBR into a stack.
	 */
	if (!kinds ||
	    ((kinds & REFPMU_WANT_BRANCH_CALL_STACK) && kinds != REFPMU_WANT_BRANCH_CALL_STACK))
		return -EINVAL;
	req->branches = true;
	req->branch_filter = filter;
	req->branch_select = refpmu_config_branch_select(filter);
	return 0;
}

/*
 * precise_ip does not restrict the counters: each counter of the device can write records. The
 * records have no skid, which satisfies even precise_ip 3.
 */
static int set_precise(const struct refpmu_attr *attr, const struct refpmu_caps *caps,
		       struct refpmu_request *req)
{
	if (!attr->precise_ip)
		return 0;
	if (!caps->records || attr->precise_ip > REFPMU_PRECISE_MAX)
		return -EOPNOTSUPP;
	/* precise_ip describes samples, so a counting event cannot have it. */
	if (!req->sampling)
		return -EINVAL;
	req->precise = attr->precise_ip;
	if (attr->sample_type & SAMPLE_MEMORY)
		req->record |= REFPMU_PEBS_DATA_MEMORY;
	if (attr->sample_type & SAMPLE_REGS_INTR)
		req->record |= REFPMU_PEBS_DATA_GPRS;
	if (req->branches) {
		req->record |= REFPMU_PEBS_DATA_LBRS;
		req->record |= (u64)(caps->lbr - 1) << REFPMU_PEBS_DATA_LBR_SHIFT;
	}
	return 0;
}

int refpmu_config_parse(const struct refpmu_attr *attr, const struct refpmu_caps *caps,
			struct refpmu_request *req)
{
	struct refpmu_request out = { .evtsel = 0 };
	struct refpmu_encoding encoding;
	int err;

	err = event_encoding(attr, caps, &encoding);
	if (err)
		return err;
	err = set_period(attr, caps, &out);
	if (err)
		return err;
	/*
	 * Check the event code before the options: an unknown event is an error with any options.
	 */
	err = set_event(&encoding, caps, &out);
	/*
	 * A generic event is never malformed, but the device may lack the counters or the records
	 * that it needs.
	 */
	if (err)
		return attr->type == TYPE_HARDWARE || attr->type == TYPE_HW_CACHE ? -ENOENT : err;

	err = set_branches(attr, caps, &out);
	if (err)
		return err;
	err = set_precise(attr, caps, &out);
	if (err)
		return err;
	/*
	 * The device cannot distinguish the idle task from the kernel, and it counts only host
	 * events.
	 */
	if (attr->exclude_idle || attr->exclude_host)
		return -EOPNOTSUPP;
	/*
	 * exclude_hv and exclude_guest need no hardware support: no hypervisor or guest runs on the
	 * device. An event that excludes both user and kernel is valid and counts nothing.
	 */
	out.evtsel |= REFPMU_EVTSEL_INT;
	if (!attr->exclude_user)
		out.evtsel |= REFPMU_EVTSEL_USR;
	if (!attr->exclude_kernel)
		out.evtsel |= REFPMU_EVTSEL_OS;

	*req = out;
	return 0;
}
