// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Register reads and writes; registers.h says what each of them does. */
#include "count.h"
#include "ds.h"
#include "lbr.h"
#include "line.h"

#define EVTSEL_WRITABLE (GENMASK_ULL(31, 20) | GENMASK_ULL(18, 0))

/* A register that is a word of a block and nothing else. */
struct plain {
	enum refpmu_block block;
	size_t offset; /* in struct refpmu_version */
	u64 writable;
};

/* If @reg is one of @n registers that begin at @base, its index. */
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

/* Bits of GLOBAL_STATUS that this device can set. */
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

static u64 capabilities(const struct refpmu_model *m)
{
	u64 caps = REFPMU_CAP_FULL_WIDTH_WRITE;

	if (m->params.lbr)
		caps |= REFPMU_CAP_LBR_FORMAT_INFO;
	if (m->params.records)
		caps |= 5ULL << REFPMU_CAP_PEBS_FORMAT_SHIFT | REFPMU_CAP_PEBS_ARCH_REGS |
			REFPMU_CAP_PEBS_BASELINE;
	return caps;
}

static struct plain plain_word(enum refpmu_block block, size_t offset, u64 writable)
{
	return (struct plain){ .block = block, .offset = offset, .writable = writable };
}

#define PLAIN(name, member, writable) \
	plain_word(REFPMU_BLOCK_##name, offsetof(struct refpmu_version, member), writable)

/* Counters and what selects their events. */
static bool find_counter(const struct refpmu_model *m, u32 reg, struct plain *plain)
{
	const unsigned int general = m->params.general;
	unsigned int i;

	if (indexed(reg, REFPMU_REG_A_PMC(0), general, &i) ||
	    indexed(reg, REFPMU_REG_PMC(0), general, &i)) {
		*plain = PLAIN(COUNT, count.value[0], value_mask(m));
	} else if (indexed(reg, REFPMU_REG_EVTSEL(0), general, &i)) {
		*plain = PLAIN(SELECT, select.evtsel[0], EVTSEL_WRITABLE);
	} else if (indexed(reg, REFPMU_REG_FIXED_CTR(0), m->params.fixed, &i)) {
		*plain = PLAIN(COUNT, count.value[0], value_mask(m));
		i += general;
	} else {
		return false;
	}
	plain->offset += i * sizeof(u64);
	return true;
}

/* Registers of devices that make records. */
static bool find_records(const struct refpmu_model *m, u32 reg, struct plain *plain)
{
	switch (reg) {
	case REFPMU_REG_OFFCORE_RSP(0):
		*plain = PLAIN(RECORDING, recording.offcore_rsp[0], REFPMU_OFFCORE_RSP_MASK);
		return true;
	case REFPMU_REG_OFFCORE_RSP(1):
		*plain = PLAIN(RECORDING, recording.offcore_rsp[1], REFPMU_OFFCORE_RSP_MASK);
		return true;
	case REFPMU_REG_LD_LAT:
		*plain = PLAIN(RECORDING, recording.ld_lat, REFPMU_LD_LAT_MASK);
		return true;
	case REFPMU_REG_PEBS_ENABLE:
		*plain = PLAIN(RECORDING, recording.pebs_enable, refpmu_counter_bits(m));
		return true;
	case REFPMU_REG_PEBS_DATA_CFG:
		*plain = PLAIN(RECORDING, recording.pebs_data_cfg, data_cfg_mask(m));
		return true;
	default:
		return false;
	}
}

static bool find_plain(const struct refpmu_model *m, u32 reg, struct plain *plain)
{
	if (find_counter(m, reg, plain))
		return true;
	switch (reg) {
	case REFPMU_REG_GLOBAL_CTRL:
		*plain = PLAIN(GLOBAL, global.ctrl, refpmu_counter_bits(m));
		return true;
	case REFPMU_REG_GLOBAL_STATUS:
		*plain = PLAIN(GLOBAL, global.status, 0);
		return true;
	case REFPMU_REG_FIXED_CTR_CTRL:
		*plain = PLAIN(SELECT, select.fixed_ctrl, refpmu_low_bits(4 * m->params.fixed));
		return true;
	case REFPMU_REG_DEBUGCTL:
		*plain = PLAIN(RECORDING, recording.debugctl, debugctl_mask(m));
		return true;
	case REFPMU_REG_DS_AREA:
		*plain = PLAIN(RECORDING, recording.ds_area, ~refpmu_low_bits(3));
		return m->params.records || m->params.trace;
	case REFPMU_REG_LBR_SELECT:
		*plain = PLAIN(STACK, stack.select, REFPMU_LBR_SELECT_MASK);
		return m->params.lbr;
	case REFPMU_REG_LBR_TOS:
		*plain = PLAIN(STACK, stack.tos, m->params.lbr - 1ULL);
		return m->params.lbr;
	default:
		return m->params.records && find_records(m, reg, plain);
	}
}

/* Entries of the branch record stack, and which word of them @reg shows. */
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

static u64 *word_at(const struct refpmu_change *c, const struct plain *plain)
{
	struct refpmu_version *version = refpmu_at(c->m, c->next, plain->block);

	return (u64 *)((char *)version + plain->offset);
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
	struct refpmu_change look;
	struct plain plain;
	unsigned int i;

	refpmu_settle(m);
	if (find_plain(m, reg, &plain)) {
		do {
			look = refpmu_look(m);
			*value = READ_ONCE(*word_at(&look, &plain));
		} while (!refpmu_look_holds(&look));
		return 0;
	}
	if (find_lbr(m, reg, &i, &word)) {
		do {
			look = refpmu_look(m);
			*value = lbr_word(&look, i, word);
		} while (!refpmu_look_holds(&look));
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

static int write_plain(struct refpmu_model *m, const struct plain *plain, u64 value)
{
	struct refpmu_change c;

	if (value & ~plain->writable)
		return -EINVAL;
	do {
		refpmu_change_begin(&c, m, BIT_ULL(plain->block));
		*word_at(&c, plain) = value;
	} while (!refpmu_change_commit(&c));
	return 0;
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

int refpmu_model_write(struct refpmu_model *m, u32 reg, u64 value)
{
	enum refpmu_lbr_word word = REFPMU_LBR_WORD_FROM;
	struct plain plain;
	unsigned int i;

	/* Of what is written to PMC, the upper half is ignored; bit 31 takes its place. */
	if (indexed(reg, REFPMU_REG_PMC(0), m->params.general, &i))
		value = (u64)(s64)(s32)(u32)value & value_mask(m);
	if (reg == REFPMU_REG_GLOBAL_STATUS)
		return -EINVAL;
	if (find_plain(m, reg, &plain))
		return write_plain(m, &plain, value);
	if (find_lbr(m, reg, &i, &word))
		return write_lbr(m, i, word, value);
	if (reg == REFPMU_REG_GLOBAL_STATUS_RESET)
		return write_status(m, value, false);
	if (reg == REFPMU_REG_GLOBAL_STATUS_SET)
		return write_status(m, value, true);
	return -EINVAL;
}
