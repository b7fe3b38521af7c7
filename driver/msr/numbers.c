// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Map registers of processors to those of the model: numbers.h. */
#include "numbers.h"

/* @count consecutive registers, and the register of the model for the first one. */
struct range {
	u32 first;
	u32 count;
	u32 reg;
};

static bool find(const struct range *ranges, unsigned int n, u32 msr, u32 *reg)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (msr >= ranges[i].first && msr - ranges[i].first < ranges[i].count) {
			*reg = ranges[i].reg + (msr - ranges[i].first);
			return true;
		}
	}
	return false;
}

#define SAME(number, count) { number, count, number }

static bool find_intel(const struct refpmu_model_params *params, u32 msr, u32 *reg)
{
	const u32 general = params->general;
	const u32 lbr = params->lbr;
	const u32 records = params->records;
	const struct range ranges[] = {
		SAME(REFPMU_REG_A_PMC(0), general),
		SAME(REFPMU_REG_EVTSEL(0), general),
		SAME(REFPMU_REG_FIXED_CTR(0), params->fixed),
		/* FIXED_CTR_CTRL, GLOBAL_STATUS, _CTRL, _STATUS_RESET and _SET */
		SAME(REFPMU_REG_FIXED_CTR_CTRL, 5),
		SAME(REFPMU_REG_PMC(0), general),
		SAME(REFPMU_REG_PERF_CAPABILITIES, 1),
		SAME(REFPMU_REG_OFFCORE_RSP(0), 2 * records),
		SAME(REFPMU_REG_LD_LAT, records),
		SAME(REFPMU_REG_PEBS_ENABLE, records),
		SAME(REFPMU_REG_PEBS_DATA_CFG, params->pebs_format == 3 ? 0 : records),
		SAME(REFPMU_REG_DS_AREA, records),
		SAME(REFPMU_REG_DEBUGCTL, lbr ? 1 : 0),
		/* LBR_SELECT and LBR_TOS */
		SAME(REFPMU_REG_LBR_SELECT, lbr ? 2 : 0),
		SAME(REFPMU_REG_LBR_FROM(0), lbr),
		SAME(REFPMU_REG_LBR_TO(0), lbr),
		SAME(REFPMU_REG_LBR_INFO(0), lbr),
	};

	return find(ranges, ARRAY_SIZE(ranges), msr, reg);
}

u64 refpmu_msr_processor_bits(u32 reg)
{
	const u64 ours = REFPMU_DEBUGCTL_LBR | REFPMU_DEBUGCTL_FREEZE_LBRS |
			 REFPMU_DEBUGCTL_FREEZE_PERFMON;

	return reg == REFPMU_REG_DEBUGCTL ? ~ours : 0;
}

#define K7_EVTSEL 0xc0010000u
#define K7_PERFCTR 0xc0010004u
#define K7_COUNTERS 4
#define F15H_CTL 0xc0010200u /* even numbers; each is followed by the number of its counter */
#define V2_STATUS 0xc0000300u
#define V2_CTL 0xc0000301u
#define V2_STATUS_CLR 0xc0000302u
#define V2_STATUS_SET 0xc0000303u

static bool find_amd(enum refpmu_msr_kind kind, const struct refpmu_model_params *params, u32 msr,
		     u32 *reg)
{
	const u32 core = kind == REFPMU_MSR_AMD_K7 ? 0 : 2u * params->general;
	const u32 v2 = kind == REFPMU_MSR_AMD_V2;
	const struct range ranges[] = {
		{ K7_EVTSEL, K7_COUNTERS, REFPMU_REG_EVTSEL(0) },
		{ K7_PERFCTR, K7_COUNTERS, REFPMU_REG_A_PMC(0) },
		{ V2_STATUS, v2, REFPMU_REG_GLOBAL_STATUS },
		{ V2_CTL, v2, REFPMU_REG_GLOBAL_CTRL },
		{ V2_STATUS_CLR, v2, REFPMU_REG_GLOBAL_STATUS_RESET },
		{ V2_STATUS_SET, v2, REFPMU_REG_GLOBAL_STATUS_SET },
	};

	if (msr >= F15H_CTL && msr - F15H_CTL < core) {
		const u32 i = (msr - F15H_CTL) / 2;

		*reg = msr & 1 ? REFPMU_REG_A_PMC(i) : REFPMU_REG_EVTSEL(i);
		return true;
	}
	return find(ranges, ARRAY_SIZE(ranges), msr, reg);
}

bool refpmu_msr_find(enum refpmu_msr_kind kind, const struct refpmu_model_params *params, u32 msr,
		     u32 *reg)
{
	if (kind == REFPMU_MSR_INTEL)
		return find_intel(params, msr, reg);
	return kind != REFPMU_MSR_NONE && find_amd(kind, params, msr, reg);
}

#define INTEL_REF_CYCLES 0x0300u
#define AMD_CYCLES 0x0076u

/* Exchange two codes, so that each code still has an event. */
u16 refpmu_msr_code(enum refpmu_msr_kind kind, u16 code)
{
	const bool intel = kind == REFPMU_MSR_INTEL;
	const u16 theirs = intel ? INTEL_REF_CYCLES : AMD_CYCLES;
	const u16 ours = intel ? REFPMU_EVENT_REF_CYCLES : REFPMU_EVENT_CYCLES;

	if (code == theirs)
		return ours;
	return code == ours ? theirs : code;
}

#define AMD_EXTENDED GENMASK_ULL(35, 32)
#define AMD_GUEST BIT_ULL(40)
#define AMD_HOST BIT_ULL(41)
#define AMD_RESERVED (GENMASK_ULL(63, 32) | BIT_ULL(19) | REFPMU_EVTSEL_ANY)

static u64 exchange_code(enum refpmu_msr_kind kind, u64 value)
{
	const u16 code = (u16)(value & REFPMU_EVTSEL_CODE);

	return (value & ~REFPMU_EVTSEL_CODE) | refpmu_msr_code(kind, code);
}

static bool is_selector(const struct refpmu_model_params *params, u32 reg)
{
	return reg >= REFPMU_REG_EVTSEL(0) && reg - REFPMU_REG_EVTSEL(0) < params->general;
}

u64 refpmu_msr_written_value(enum refpmu_msr_kind kind, const struct refpmu_model_params *params,
			     u32 reg, u64 value)
{
	/* AMD allows 1 for every bit of STATUS_CLR; the model rejects bits that do not exist. */
	if (kind == REFPMU_MSR_AMD_V2 && reg == REFPMU_REG_GLOBAL_STATUS_RESET)
		return value & refpmu_low_bits(params->general);
	if (!is_selector(params, reg))
		return value;
	if (kind != REFPMU_MSR_INTEL) {
		if (value & AMD_EXTENDED || (value & (AMD_GUEST | AMD_HOST)) == AMD_GUEST)
			value &= ~REFPMU_EVTSEL_EN;
		value &= ~AMD_RESERVED;
	}
	return exchange_code(kind, value);
}

u64 refpmu_msr_read_value(enum refpmu_msr_kind kind, const struct refpmu_model_params *params,
			  u32 reg, u64 value)
{
	/* Skylake does not report branch types. */
	if (reg >= REFPMU_REG_LBR_INFO(0) && reg - REFPMU_REG_LBR_INFO(0) < params->lbr)
		return value & ~REFPMU_LBR_INFO_TYPE;
	return is_selector(params, reg) ? exchange_code(kind, value) : value;
}

bool refpmu_msr_find_pmc(const struct refpmu_model_params *params, u32 number, u32 *reg)
{
	const u32 i = number & ~(u32)REFPMU_MSR_RDPMC_FIXED;

	if (number & REFPMU_MSR_RDPMC_FIXED) {
		*reg = REFPMU_REG_FIXED_CTR(i);
		return i < params->fixed;
	}
	*reg = REFPMU_REG_A_PMC(i);
	return i < params->general;
}
