// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * The stack of last branch records.
 * Source: Intel SDM vol. 3, "Last Branch, Interrupt, and Exception Recording", "LBR Stack",
 * "Filtering of Last Branch Records", "Call-Stack Mode".
 */
#include "lbr.h"

#define MAP_BITS 8
#define MAP_PER_WORD (64 / MAP_BITS)

static unsigned int mapped(const struct refpmu_stack *stack, unsigned int i)
{
	return READ_ONCE(stack->map[i / MAP_PER_WORD]) >> MAP_BITS * (i % MAP_PER_WORD) & 0xff;
}

static void map(struct refpmu_stack *stack, unsigned int i, unsigned int entry)
{
	u64 *word = &stack->map[i / MAP_PER_WORD];
	const unsigned int shift = MAP_BITS * (i % MAP_PER_WORD);

	*word = (*word & ~(0xffULL << shift)) | (u64)entry << shift;
}

struct refpmu_pebs_lbr refpmu_lbr_entry(const struct refpmu_change *c, unsigned int i)
{
	const struct refpmu_stack *stack = refpmu_stack(c);
	struct refpmu_pebs_lbr entry = { .from = 0 };

	if (READ_ONCE(stack->valid) & BIT_ULL(i))
		entry = c->m->lbr[mapped(stack, i)];
	return entry;
}

struct refpmu_pebs_lbr refpmu_lbr_recent(const struct refpmu_change *c, unsigned int age)
{
	const unsigned int depth = c->m->params.lbr;
	const struct refpmu_pebs_lbr none = { .from = 0 };
	const u64 tos = READ_ONCE(refpmu_stack(c)->tos);

	return age < depth ? refpmu_lbr_entry(c, (tos - age) & (depth - 1)) : none;
}

/*
 * Set register @i to @entry. The entry is written to the spare entry of this version, which no
 * other change uses. The old entry of the register becomes the spare.
 */
static void replace(const struct refpmu_change *c, unsigned int i,
		    const struct refpmu_pebs_lbr *entry)
{
	struct refpmu_stack *stack = refpmu_stack(c);
	const unsigned int spare =
		REFPMU_MAX_LBR + refpmu_version_of(c->next, REFPMU_BLOCK_STACK);
	const unsigned int fresh = mapped(stack, spare);

	WRITE_ONCE(c->m->lbr[fresh].from, entry->from);
	WRITE_ONCE(c->m->lbr[fresh].to, entry->to);
	WRITE_ONCE(c->m->lbr[fresh].info, entry->info);
	map(stack, spare, mapped(stack, i));
	map(stack, i, fresh);
	stack->valid |= BIT_ULL(i);
}

void refpmu_lbr_set(const struct refpmu_change *c, unsigned int i, enum refpmu_lbr_word word,
		    u64 value)
{
	struct refpmu_pebs_lbr entry = refpmu_lbr_entry(c, i);

	if (word == REFPMU_LBR_WORD_FROM)
		entry.from = value;
	else if (word == REFPMU_LBR_WORD_TO)
		entry.to = value;
	else
		entry.info = value;
	replace(c, i, &entry);
}

/* Value of an entry's type field, by branch type. */
static const u8 type_of[REFPMU_BRANCH_MAX] = {
	[REFPMU_BRANCH_JCC] = REFPMU_LBR_TYPE_JCC,
	[REFPMU_BRANCH_REL_CALL] = REFPMU_LBR_TYPE_REL_CALL,
	[REFPMU_BRANCH_IND_CALL] = REFPMU_LBR_TYPE_IND_CALL,
	[REFPMU_BRANCH_RET] = REFPMU_LBR_TYPE_RET,
	[REFPMU_BRANCH_IND_JMP] = REFPMU_LBR_TYPE_IND_JMP,
	[REFPMU_BRANCH_REL_JMP] = REFPMU_LBR_TYPE_REL_JMP,
	[REFPMU_BRANCH_FAR] = REFPMU_LBR_TYPE_FAR,
};

/* Bit of LBR_SELECT that filters out a branch type. */
static const u64 filter_bit[REFPMU_BRANCH_MAX] = {
	[REFPMU_BRANCH_JCC] = REFPMU_LBR_NOT_JCC,
	[REFPMU_BRANCH_REL_CALL] = REFPMU_LBR_NOT_REL_CALL,
	[REFPMU_BRANCH_IND_CALL] = REFPMU_LBR_NOT_IND_CALL,
	[REFPMU_BRANCH_RET] = REFPMU_LBR_NOT_RET,
	[REFPMU_BRANCH_IND_JMP] = REFPMU_LBR_NOT_IND_JMP,
	[REFPMU_BRANCH_REL_JMP] = REFPMU_LBR_NOT_REL_JMP,
	[REFPMU_BRANCH_FAR] = REFPMU_LBR_NOT_FAR,
};

void refpmu_lbr_record(const struct refpmu_change *c, const struct refpmu_branch *b,
		       enum refpmu_privilege priv)
{
	struct refpmu_stack *stack = refpmu_stack(c);
	const unsigned int last = c->m->params.lbr - 1;
	const u64 ring = priv == REFPMU_USER ? REFPMU_LBR_NOT_USER : REFPMU_LBR_NOT_KERNEL;
	const struct refpmu_pebs_lbr entry = {
		.from = b->from,
		.to = b->to,
		.info = b->cycles | (u64)type_of[b->kind] << REFPMU_LBR_INFO_TYPE_SHIFT |
			(b->abort ? REFPMU_LBR_INFO_ABORT : 0) |
			(b->in_tx ? REFPMU_LBR_INFO_IN_TX : 0) |
			(b->mispredicted ? REFPMU_LBR_INFO_MISPRED : 0),
	};

	if (stack->select & (ring | filter_bit[b->kind]))
		return;
	if (stack->select & REFPMU_LBR_CALL_STACK && b->kind == REFPMU_BRANCH_RET) {
		/* An entry whose FROM is 0 is empty: software clears entries by writing zeros. */
		if (refpmu_lbr_entry(c, (unsigned int)stack->tos).from) {
			stack->valid &= ~BIT_ULL(stack->tos);
			stack->tos = (stack->tos - 1) & last;
		}
		return;
	}
	stack->tos = (stack->tos + 1) & last;
	replace(c, (unsigned int)stack->tos, &entry);
}
