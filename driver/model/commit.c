// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Versions of the device's state: claimed, copied, committed. */
#include "commit.h"
#include "ds.h"

#define WORDS(type) ((unsigned int)(sizeof(struct type) / sizeof(u64)))

/* Claims: eight bits a block, one a version. */
static u64 claim_bit(enum refpmu_block block, unsigned int version)
{
	return BIT_ULL(8 * block + version);
}

/* The words of @block in @version of @m, and how many of them this device uses. */
static u64 *words_of(struct refpmu_model *m, enum refpmu_block block, unsigned int version,
		     unsigned int *count)
{
	struct refpmu_version *v = &m->version[version];

	switch (block) {
	case REFPMU_BLOCK_GLOBAL:
		*count = WORDS(refpmu_global);
		return &v->global.ctrl;
	case REFPMU_BLOCK_SELECT:
		*count = 1 + m->params.general;
		return &v->select.fixed_ctrl;
	case REFPMU_BLOCK_COUNT:
		*count = m->params.general + m->params.fixed;
		return v->count.value;
	case REFPMU_BLOCK_RECORDING:
		*count = WORDS(refpmu_recording);
		return v->recording.offcore_rsp;
	default:
		*count = WORDS(refpmu_stack);
		return &v->stack.select;
	}
}

static void copy(struct refpmu_model *m, enum refpmu_block block, u64 from, u64 to)
{
	unsigned int count, i;
	const u64 *source = words_of(m, block, refpmu_version_of(from, block), &count);
	u64 *target = words_of(m, block, refpmu_version_of(to, block), &count);

	for (i = 0; i < count; i++)
		WRITE_ONCE(target[i], READ_ONCE(source[i]));
}

void refpmu_change_begin(struct refpmu_change *c, struct refpmu_model *m, u64 blocks)
{
	u64 left, claims;

	refpmu_settle(m);
	c->m = m;
	c->claims = READ_ONCE(m->claims);
	do {
		c->head = READ_ONCE(m->head);
		c->next = c->head + REFPMU_GENERATION;
		claims = c->claims;
		for (left = blocks; left; left &= left - 1) {
			const unsigned int block = refpmu_lowest_bit(left);
			const unsigned int current = refpmu_version_of(c->head, block);
			const u64 busy = (c->claims >> (8 * block) & 0xff) | BIT_ULL(current);
			const unsigned int version = refpmu_lowest_bit(~busy);

			c->next ^= (u64)(current ^ version) << (4 * block);
			claims |= claim_bit(block, version);
		}
		WRITE_ONCE(m->claims, claims);
	} while (READ_ONCE(m->head) != c->head);
	for (left = blocks; left; left &= left - 1) {
		const enum refpmu_block block = refpmu_lowest_bit(left);

		copy(m, block, c->head, c->next);
	}
}

/* What is current needs no claim. */
void refpmu_change_cancel(struct refpmu_change *c)
{
	WRITE_ONCE(c->m->claims, c->claims);
}

bool refpmu_change_commit(struct refpmu_change *c)
{
	const bool done = cmpxchg64_local(&c->m->head, c->head, c->next) == c->head;

	refpmu_change_cancel(c);
	return done;
}
