// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* From a perf_event_attr to what the hardware is asked to do, or to the errno that refuses it. */
#include "config.h"

#include "../model/model.h"
#include "period.h"

/* Numbers of the perf ABI (perf_event_open(2)), which core may not include. */
#define TYPE_HARDWARE 0
#define TYPE_RAW 4
#define GENERIC_MAX 10

#define CODE_MASK (REFPMU_EVTSEL_EVENT | REFPMU_EVTSEL_UMASK)

#define EVENT_PULSE_A 0x01d0
#define EVENT_PULSE_B 0x01d1
#define EVENT_PULSE_C 0x01d2
#define EVENT_PULSE_D 0x01d3
#define EVENT_CACHE_REFERENCES 0x4f2e
#define EVENT_CACHE_MISSES 0x412e
#define EVENT_BRANCHES 0x00c4
#define EVENT_BRANCH_MISSES 0x00c5

const struct refpmu_event refpmu_events[] = {
	{ "cycles", REFPMU_EVENT_CYCLES },
	{ "instructions", REFPMU_EVENT_INSTRUCTIONS },
	{ "ref-cycles", REFPMU_EVENT_REF_CYCLES },
	{ "pulse_a", EVENT_PULSE_A },
	{ "pulse_b", EVENT_PULSE_B },
	{ "pulse_c", EVENT_PULSE_C },
	{ "pulse_d", EVENT_PULSE_D },
	{ "cache-references", EVENT_CACHE_REFERENCES },
	{ "cache-misses", EVENT_CACHE_MISSES },
	{ "branches", EVENT_BRANCHES },
	{ "branch-misses", EVENT_BRANCH_MISSES },
};

const unsigned int refpmu_events_count = ARRAY_SIZE(refpmu_events);

/* PERF_COUNT_HW_* that the device has; bus and stalled cycles it has not. */
static const struct {
	u8 id;
	u16 code;
} generic_events[] = {
	{ 0, REFPMU_EVENT_CYCLES },
	{ 1, REFPMU_EVENT_INSTRUCTIONS },
	{ 2, EVENT_CACHE_REFERENCES },
	{ 3, EVENT_CACHE_MISSES },
	{ 4, EVENT_BRANCHES },
	{ 5, EVENT_BRANCH_MISSES },
	{ 9, REFPMU_EVENT_REF_CYCLES },
};

/* The fixed counter that counts @code, as a set; empty if the device has none. */
static u64 fixed_for(u16 code, const struct refpmu_caps *caps)
{
	unsigned int i;

	switch (code) {
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

u64 refpmu_config_allowed(u16 code, const struct refpmu_caps *caps)
{
	const u64 general = refpmu_low_bits(caps->general);
	unsigned int i;

	for (i = 0; i < refpmu_events_count; i++) {
		if (refpmu_events[i].code == code)
			break;
	}
	if (i == refpmu_events_count)
		return 0;

	switch (code) {
	case EVENT_PULSE_C:
		return general & refpmu_low_bits(2);
	case EVENT_PULSE_D:
		return general & ~(general >> 1); /* the last one alone */
	default:
		return general | fixed_for(code, caps);
	}
}

int refpmu_config_check_period(u64 period, const struct refpmu_caps *caps)
{
	if (!period || period < caps->min_period || period > refpmu_low_bits(63))
		return -EINVAL;
	return 0;
}

/*
 * The generic id is searched for, not used as an index: there is nothing to read out of bounds,
 * speculatively either.
 */
static int generic_code(u64 id, u16 *code)
{
	unsigned int i;

	if (id >= GENERIC_MAX)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(generic_events); i++) {
		if (generic_events[i].id == id) {
			*code = generic_events[i].code;
			return 0;
		}
	}
	return -ENOENT;
}

static int event_code(const struct refpmu_attr *attr, const struct refpmu_caps *caps, u16 *code)
{
	const bool own = attr->type == caps->own_type || attr->type == TYPE_RAW;

	if (!own && attr->type != TYPE_HARDWARE)
		return -ENOENT;
	/* Bits without a meaning are refused, so that they can get one. */
	if (attr->config1 || attr->config2 || attr->config3)
		return -EINVAL;
	if (!own)
		return generic_code(attr->config, code);
	if (attr->config & ~CODE_MASK)
		return -EINVAL;
	*code = (u16)attr->config;
	return 0;
}

int refpmu_config_parse(const struct refpmu_attr *attr, const struct refpmu_caps *caps,
			struct refpmu_request *req)
{
	struct refpmu_request out = { .evtsel = 0 };
	u16 code = 0;
	int err;

	err = event_code(attr, caps, &code);
	if (err)
		return err;

	out.sampling = attr->sample_period != 0;
	out.freq = out.sampling && attr->freq;
	if (out.sampling && !out.freq) {
		/* A frequency shares the field, but is no period and has no minimum. */
		err = refpmu_config_check_period(attr->sample_period, caps);
		if (err)
			return err;
	}

	/* What is counted, advertised or not, decides before what is asked for around it. */
	out.allowed = refpmu_config_allowed(code, caps);
	if (!out.allowed)
		return attr->type == TYPE_HARDWARE ? -ENOENT : -EINVAL;
	out.preferred = fixed_for(code, caps);

	/* No records of where an event really happened, none of branches. */
	if (attr->precise_ip || attr->branch_stack)
		return -EOPNOTSUPP;
	/* The device cannot tell the idle task from the kernel, and sees nothing but the host. */
	if (attr->exclude_idle || attr->exclude_host)
		return -EOPNOTSUPP;
	/*
	 * exclude_hv and exclude_guest hold by themselves: no hypervisor and no guest ever runs on
	 * the device. With user and kernel both excluded the event is legal and counts nothing.
	 */
	out.evtsel = code | REFPMU_EVTSEL_INT;
	if (!attr->exclude_user)
		out.evtsel |= REFPMU_EVTSEL_USR;
	if (!attr->exclude_kernel)
		out.evtsel |= REFPMU_EVTSEL_OS;

	if (out.freq)
		out.period = 1;
	else if (out.sampling)
		out.period = attr->sample_period;
	else
		out.period = refpmu_period_counting(caps->width);

	*req = out;
	return 0;
}
