// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Register reads and writes, as registers.h defines them. */
#include "count.h"
#include "ds.h"
#include "lbr.h"
#include "line.h"

#define EVTSEL_WRITABLE (GENMASK_ULL(31, 20) | GENMASK_ULL(18, 0))

/*
 * Position of a register that is one word of a block; block REFPMU_BLOCKS means no such register.
 */
struct place {
	u8 block; /* enum refpmu_block */
	u8 word;
};

/* Return true, and the index in @i, if @reg is one of the @n registers from @base on. */
static bool indexed(u32 reg, u32 base, unsigned int n, unsigned int *i)
{
	if (reg < base || reg - base >= n)
		return false;
	*i = reg - base;
	return true;
}

static u64 value_mask(const struct refpmu_model *m)
{
	return refpmu_low_bits(m->params.width);
}

/* Return the bits of GLOBAL_STATUS that this device can set. */
static u64 status_mask(const struct refpmu_model *m)
{
	u64 mask = refpmu_counter_bits(m) | REFPMU_STATUS_CTR_FROZEN;

	if (m->params.lbr)
		mask |= REFPMU_STATUS_LBR_FROZEN;
	if (m->params.records || m->params.trace)
		mask |= REFPMU_STATUS_DS;
	return mask;
}

static u64 debugctl_mask(const struct refpmu_model *m)
{
	u64 mask = REFPMU_DEBUGCTL_FREEZE_PERFMON;

	if (m->params.lbr)
		mask |= REFPMU_DEBUGCTL_LBR | REFPMU_DEBUGCTL_FREEZE_LBRS;
	if (m->params.trace)
		mask |= REFPMU_DEBUGCTL_TR | REFPMU_DEBUGCTL_BTS | REFPMU_DEBUGCTL_BTINT |
			REFPMU_DEBUGCTL_BTS_OFF_OS | REFPMU_DEBUGCTL_BTS_OFF_USR;
	return mask;
}

static u64 data_cfg_mask(const struct refpmu_model *m)
{
	u64 mask = REFPMU_PEBS_DATA_MEMORY | REFPMU_PEBS_DATA_GPRS;

	if (m->params.lbr)
		mask |= REFPMU_PEBS_DATA_LBRS | REFPMU_PEBS_DATA_LBR_COUNT;
	return mask;
}

static u64 pebs_enable_mask(const struct refpmu_model *m)
{
	const u64 general = refpmu_low_bits(m->params.general);

	return refpmu_has_pebs_format3(m) ? general | general << 32 : refpmu_counter_bits(m);
}

static u64 capabilities(const struct refpmu_model *m)
{
	u64 caps = REFPMU_CAP_FULL_WIDTH_WRITE;

	if (m->params.lbr)
		caps |= REFPMU_CAP_LBR_FORMAT_INFO;
	if (m->params.records && refpmu_has_pebs_format3(m))
		caps |= 3ULL << REFPMU_CAP_PEBS_FORMAT_SHIFT | REFPMU_CAP_PEBS_ARCH_REGS;
	else if (m->params.records)
		caps |= 5ULL << REFPMU_CAP_PEBS_FORMAT_SHIFT | REFPMU_CAP_PEBS_ARCH_REGS |
			REFPMU_CAP_PEBS_BASELINE;
	return caps;
}

static struct place at(enum refpmu_block block, unsigned int word)
{
	return (struct place){ .block = (u8)block, .word = (u8)word };
}

static struct place no_place(void)
{
	return at(REFPMU_BLOCKS, 0);
}

/* Find a register that only devices with records have. */
static struct place find_records(const struct refpmu_model *m, u32 reg)
{
	switch (reg) {
	case REFPMU_REG_OFFCORE_RSP(0):
		return at(REFPMU_BLOCK_RECORDING, REFPMU_WORD(recording, offcore_rsp[0]));
	case REFPMU_REG_OFFCORE_RSP(1):
		return at(REFPMU_BLOCK_RECORDING, REFPMU_WORD(recording, offcore_rsp[1]));
	case REFPMU_REG_LD_LAT:
		return at(REFPMU_BLOCK_RECORDING, REFPMU_WORD(recording, ld_lat));
	case REFPMU_REG_PEBS_ENABLE:
		return at(REFPMU_BLOCK_RECORDING, REFPMU_WORD(recording, pebs_enable));
	case REFPMU_REG_PEBS_DATA_CFG:
		if (refpmu_has_pebs_format3(m))
			return no_place();
		return at(REFPMU_BLOCK_RECORDING, REFPMU_WORD(recording, pebs_data_cfg));
	default:
		return no_place();
	}
}

/* Find a register that is neither a counter nor an event select. */
static struct place find_control(const struct refpmu_model *m, u32 reg)
{
	const struct refpmu_model_params *params = &m->params;

	switch (reg) {
	case REFPMU_REG_GLOBAL_CTRL:
		return at(REFPMU_BLOCK_GLOBAL, REFPMU_WORD(global, ctrl));
	case REFPMU_REG_GLOBAL_STATUS:
		return at(REFPMU_BLOCK_GLOBAL, REFPMU_WORD(global, status));
	case REFPMU_REG_FIXED_CTR_CTRL:
		return at(REFPMU_BLOCK_SELECT, REFPMU_WORD(select, fixed_ctrl));
	case REFPMU_REG_DEBUGCTL:
		return at(REFPMU_BLOCK_RECORDING, REFPMU_WORD(recording, debugctl));
	case REFPMU_REG_DS_AREA:
		return params->records || params->trace ?
			       at(REFPMU_BLOCK_RECORDING, REFPMU_WORD(recording, ds_area)) :
			       no_place();
	case REFPMU_REG_LBR_SELECT:
		return params->lbr ? at(REFPMU_BLOCK_STACK, REFPMU_WORD(stack, select)) :
				     no_place();
	case REFPMU_REG_LBR_TOS:
		return params->lbr ? at(REFPMU_BLOCK_STACK, REFPMU_WORD(stack, tos)) : no_place();
	default:
		return params->records ? find_records(m, reg) : no_place();
	}
}

static inline struct place find(const struct refpmu_model *m, u32 reg)
{
	const unsigned int general = m->params.general;
	unsigned int i;

	if (indexed(reg, REFPMU_REG_EVTSEL(0), general, &i))
		return at(REFPMU_BLOCK_SELECT, REFPMU_WORD(select, evtsel[0]) + i);
	if (indexed(reg, REFPMU_REG_A_PMC(0), general, &i) ||
	    indexed(reg, REFPMU_REG_PMC(0), general, &i))
		return at(REFPMU_BLOCK_COUNT, REFPMU_WORD(count, value[0]) + i);
	if (indexed(reg, REFPMU_REG_FIXED_CTR(0), m->params.fixed, &i))
		return at(REFPMU_BLOCK_COUNT, REFPMU_WORD(count, value[0]) + general + i);
	return find_control(m, reg);
}

static u64 recording_writable(const struct refpmu_model *m, unsigned int word)
{
	switch (word) {
	case REFPMU_WORD(recording, ld_lat):
		return REFPMU_LD_LAT_MASK;
	case REFPMU_WORD(recording, pebs_enable):
		return pebs_enable_mask(m);
	case REFPMU_WORD(recording, pebs_data_cfg):
		return data_cfg_mask(m);
	case REFPMU_WORD(recording, ds_area):
		return ~refpmu_low_bits(3);
	case REFPMU_WORD(recording, debugctl):
		return debugctl_mask(m);
	default:
		return REFPMU_OFFCORE_RSP_MASK;
	}
}

/* Return the writable bits of the register at @place. */
static u64 writable(const struct refpmu_model *m, struct place place)
{
	switch (place.block) {
	case REFPMU_BLOCK_GLOBAL:
		return refpmu_counter_bits(m); /* GLOBAL_CTRL; GLOBAL_STATUS is read-only */
	case REFPMU_BLOCK_SELECT:
		return place.word == REFPMU_WORD(select, fixed_ctrl) ?
			       refpmu_low_bits(4 * m->params.fixed) :
			       EVTSEL_WRITABLE;
	case REFPMU_BLOCK_COUNT:
		return value_mask(m);
	case REFPMU_BLOCK_RECORDING:
		return recording_writable(m, place.word);
	default:
		return place.word == REFPMU_WORD(stack, select) ? REFPMU_LBR_SELECT_MASK :
								  m->params.lbr - 1ULL;
	}
}

/* Find the entry of the branch record stack, and its word, that @reg shows. */
static bool find_lbr(const struct refpmu_model *m, u32 reg, unsigned int *i,
		     enum refpmu_lbr_word *word)
{
	const unsigned int depth = m->params.lbr;

	if (indexed(reg, REFPMU_REG_LBR_FROM(0), depth, i))
		*word = REFPMU_LBR_WORD_FROM;
	else if (indexed(reg, REFPMU_REG_LBR_TO(0), depth, i))
		*word = REFPMU_LBR_WORD_TO;
	else if (indexed(reg, REFPMU_REG_LBR_INFO(0), depth, i))
		*word = REFPMU_LBR_WORD_INFO;
	else
		return false;
	return true;
}

static u64 lbr_word(const struct refpmu_change *c, unsigned int i, enum refpmu_lbr_word word)
{
	const struct refpmu_pebs_lbr entry = refpmu_lbr_entry(c, i);

	if (word == REFPMU_LBR_WORD_FROM)
		return entry.from;
	return word == REFPMU_LBR_WORD_TO ? entry.to : entry.info;
}

int refpmu_model_read(struct refpmu_model *m, u32 reg, u64 *value)
{
	enum refpmu_lbr_word word = REFPMU_LBR_WORD_FROM;
	const struct place place = find(m, reg);
	struct refpmu_change look;
	unsigned int i;

	refpmu_finish_stores(m);
	if (place.block != REFPMU_BLOCKS) {
		*value = refpmu_word(m, place.block, place.word);
		return 0;
	}
	if (find_lbr(m, reg, &i, &word)) {
		do {
			look = refpmu_view(m);
			*value = lbr_word(&look, i, word);
		} while (!refpmu_view_is_current(&look));
		return 0;
	}

	switch (reg) {
	case REFPMU_REG_PERF_CAPABILITIES:
		*value = capabilities(m);
		return 0;
	case REFPMU_REG_GLOBAL_STATUS_RESET:
	case REFPMU_REG_GLOBAL_STATUS_SET:
		*value = 0;
		return 0;
	default:
		return -EINVAL;
	}
}

static int write_lbr(struct refpmu_model *m, unsigned int i, enum refpmu_lbr_word word, u64 value)
{
	const u64 info = REFPMU_LBR_INFO_CYCLES | REFPMU_LBR_INFO_TYPE | REFPMU_LBR_INFO_ABORT |
			 REFPMU_LBR_INFO_IN_TX | REFPMU_LBR_INFO_MISPRED;
	struct refpmu_change c;

	if (word == REFPMU_LBR_WORD_INFO && value & ~info)
		return -EINVAL;
	do {
		refpmu_change_begin(&c, m, BIT_ULL(REFPMU_BLOCK_STACK));
		refpmu_lbr_set(&c, i, word, value);
	} while (!refpmu_change_commit(&c));
	return 0;
}

static int write_status(struct refpmu_model *m, u64 value, bool set)
{
	const u64 frozen = REFPMU_STATUS_CTR_FROZEN | REFPMU_STATUS_LBR_FROZEN;
	struct refpmu_change c;

	if (value & ~status_mask(m))
		return -EINVAL;
	do {
		refpmu_change_begin(&c, m, BIT_ULL(REFPMU_BLOCK_GLOBAL));
		if (set) {
			refpmu_raise_status(&c, value, value & ~frozen);
		} else {
			refpmu_global(&c)->status &= ~value;
			refpmu_global(&c)->asserted &= ~value;
		}
	} while (!refpmu_change_commit(&c));
	return 0;
}

/* Write counter @i. Fixed counters follow the general ones without a gap. */
static void write_counter(struct refpmu_model *m, unsigned int i, u64 value)
{
	const unsigned int general = m->params.general;
	const u64 bit = BIT_ULL(i < general ? i : REFPMU_FIXED_SHIFT + i - general);
	const bool muted = value_mask(m) - value < m->params.min_period - 1;
	struct refpmu_change c;

	do {
		refpmu_change_begin(&c, m, BIT_ULL(REFPMU_BLOCK_COUNT));
		refpmu_count(&c)->value[i] = value;
		if (muted)
			refpmu_count(&c)->muted |= bit;
		else
			refpmu_count(&c)->muted &= ~bit;
	} while (!refpmu_change_commit(&c));
}

int refpmu_model_write(struct refpmu_model *m, u32 reg, u64 value)
{
	enum refpmu_lbr_word word = REFPMU_LBR_WORD_FROM;
	const struct place place = find(m, reg);
	unsigned int i;

	if (place.block != REFPMU_BLOCKS) {
		/* A write to PMC ignores the upper half of the value and sign-extends bit 31. */
		if (indexed(reg, REFPMU_REG_PMC(0), m->params.general, &i))
			value = (u64)(s64)(s32)(u32)value & value_mask(m);
		if (value & ~writable(m, place) || reg == REFPMU_REG_GLOBAL_STATUS)
			return -EINVAL;
		if (place.block == REFPMU_BLOCK_COUNT && m->params.min_period > 1)
			write_counter(m, place.word - REFPMU_WORD(count, value[0]), value);
		else
			refpmu_change_word(m, place.block, place.word, value);
		return 0;
	}
	if (find_lbr(m, reg, &i, &word))
		return write_lbr(m, i, word, value);
	if (reg == REFPMU_REG_GLOBAL_STATUS_RESET)
		return write_status(m, value, false);
	if (reg == REFPMU_REG_GLOBAL_STATUS_SET)
		return write_status(m, value, true);
	return -EINVAL;
}
