// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* From a perf_event_attr to what the hardware is asked to do, or to the errno that refuses it. */
#include "config.h"

#include "../model/registers.h"
#include "branch.h"
#include "events.h"
#include "period.h"

/* Numbers of the perf ABI (perf_event_open(2)), which core may not include. */
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
/* perf derives the last two from the address. */
#define SAMPLE_MEMORY                                                                         \
	(SAMPLE_ADDR | SAMPLE_WEIGHT | SAMPLE_DATA_SRC | SAMPLE_TRANSACTION |                 \
	 SAMPLE_WEIGHT_STRUCT | SAMPLE_PHYS_ADDR | SAMPLE_DATA_PAGE_SIZE)

/* Bits 14 to 18 say what of a branch is shown: flags, cycles, type, index, privilege. */
#define BRANCH_KNOWN refpmu_low_bits(19)
#define BRANCH_KINDS                                                                          \
	(REFPMU_WANT_BRANCH_ANY | REFPMU_WANT_BRANCH_ANY_CALL |                               \
	 REFPMU_WANT_BRANCH_ANY_RETURN | REFPMU_WANT_BRANCH_IND_CALL |                        \
	 REFPMU_WANT_BRANCH_ABORT_TX | REFPMU_WANT_BRANCH_IN_TX | REFPMU_WANT_BRANCH_NO_TX |  \
	 REFPMU_WANT_BRANCH_COND | REFPMU_WANT_BRANCH_CALL_STACK |                            \
	 REFPMU_WANT_BRANCH_IND_JUMP | REFPMU_WANT_BRANCH_CALL)

/* All that the files in format/ offer of config. */
#define CONFIG_FORMATS (REFPMU_EVTSEL_CODE | REFPMU_EVTSEL_FILTER)

int refpmu_config_check_period(u64 period, const struct refpmu_caps *caps)
{
	if (!period || period < caps->min_period || period > refpmu_low_bits(63))
		return -EINVAL;
	return 0;
}

/* What is to be counted, whoever names it. */
static int event_encoding(const struct refpmu_attr *attr, const struct refpmu_caps *caps,
			  struct refpmu_encoding *encoding)
{
	const bool own = attr->type == caps->own_type || attr->type == TYPE_RAW;

	if (!own && attr->type != TYPE_HARDWARE && attr->type != TYPE_HW_CACHE)
		return -ENOENT;
	/* Bits without a meaning are refused, so that they can get one. */
	if (attr->config2 || attr->config3 || (attr->config1 && !own))
		return -EINVAL;
	/*
	 * The number of a PMU in the upper half of a generic config has brought the event here, and
	 * perf has taken it out: what is left there is malformed.
	 */
	if (!own)
		return attr->type == TYPE_HARDWARE ? refpmu_events_generic(attr->config, encoding) :
						     refpmu_events_cache(attr->config, encoding);
	if (attr->config & ~CONFIG_FORMATS)
		return -EINVAL;
	*encoding = (struct refpmu_encoding){ (u32)attr->config, attr->config1 };
	return 0;
}

/* The event itself: which counters and extra register it needs. */
static int set_event(const struct refpmu_encoding *encoding, const struct refpmu_caps *caps,
		     struct refpmu_request *req)
{
	const u16 code = encoding->config & REFPMU_EVTSEL_CODE;
	u64 valid;

	/* Fewer than none: nothing would be inverted. */
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
		/* A frequency shares the field, but is no period and has no minimum. */
		req->period = caps->min_period;
		return 0;
	}
	req->period = attr->sample_period;
	return refpmu_config_check_period(attr->sample_period, caps);
}

u64 refpmu_config_branch_select(u64 filter)
{
	/* What the device itself tells apart; software filters what is left. */
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
	/* An abort may be of any kind; and a transaction alone asks for all that is in it. */
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
	/* Counters are not logged with branches. */
	if (!caps->lbr || (filter & ~BRANCH_KNOWN))
		return -EOPNOTSUPP;
	/* No kind at all is none to record; and a stack of calls is one of nothing else. */
	if (!kinds ||
	    ((kinds & REFPMU_WANT_BRANCH_CALL_STACK) && kinds != REFPMU_WANT_BRANCH_CALL_STACK))
		return -EINVAL;
	req->branches = true;
	req->branch_filter = filter;
	req->branch_select = refpmu_config_branch_select(filter);
	return 0;
}

/*
 * Precise events may go wherever others do: each counter of the device can write records, and none
 * of them with a skid, which is more than precise_ip 3 asks for.
 */
static int set_precise(const struct refpmu_attr *attr, const struct refpmu_caps *caps,
		       struct refpmu_request *req)
{
	if (!attr->precise_ip)
		return 0;
	if (!caps->records || attr->precise_ip > REFPMU_PRECISE_MAX)
		return -EOPNOTSUPP;
	/* It is samples that are precise. */
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
	/* What is counted, advertised or not, decides before what is asked for around it. */
	err = set_event(&encoding, caps, &out);
	if (err) /* the tables have nothing malformed, but a device may lack what an entry needs */
		return attr->type == TYPE_HARDWARE || attr->type == TYPE_HW_CACHE ? -ENOENT : err;

	err = set_branches(attr, caps, &out);
	if (err)
		return err;
	err = set_precise(attr, caps, &out);
	if (err)
		return err;
	/* The device cannot tell the idle task from the kernel, and sees nothing but the host. */
	if (attr->exclude_idle || attr->exclude_host)
		return -EOPNOTSUPP;
	/*
	 * exclude_hv and exclude_guest hold by themselves: no hypervisor and no guest ever runs on
	 * the device. With user and kernel both excluded the event is legal and counts nothing.
	 */
	out.evtsel |= REFPMU_EVTSEL_INT;
	if (!attr->exclude_user)
		out.evtsel |= REFPMU_EVTSEL_USR;
	if (!attr->exclude_kernel)
		out.evtsel |= REFPMU_EVTSEL_OS;

	*req = out;
	return 0;
}
