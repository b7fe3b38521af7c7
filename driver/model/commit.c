// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Versions of the device's state: claimed, copied, committed. */
#include "commit.h"
#include "ds.h"

#define WORDS(type) ((unsigned int)(sizeof(struct type) / sizeof(u64)))

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

/* Claim a free version of each of @blocks, as things look at the head that is now. */
static void claim(struct refpmu_change *c, u64 blocks)
{
	u64 claims = c->claims;
	u64 left;

	c->head = READ_ONCE(c->m->head);
	c->next = c->head + REFPMU_GENERATION;
	for (left = blocks; left; left &= left - 1) {
		const enum refpmu_block block = refpmu_lowest_bit(left);
		const unsigned int current = refpmu_version_of(c->head, block);
		const u64 busy = (c->claims >> 8 * block & 0xff) | BIT_ULL(current);
		const unsigned int version = refpmu_lowest_bit(~busy);

		c->next ^= (u64)(current ^ version) << 4 * block;
		claims |= BIT_ULL(8 * block + version);
	}
	WRITE_ONCE(c->m->claims, claims);
}

static bool unchanged(const struct refpmu_change *c)
{
	return READ_ONCE(c->m->head) == c->head;
}

void refpmu_change_begin(struct refpmu_change *c, struct refpmu_model *m, u64 blocks)
{
	u64 left;

	refpmu_settle(m);
	c->m = m;
	c->claims = READ_ONCE(m->claims);
	do {
		/* What was free may have become current before it was claimed. */
		do
			claim(c, blocks);
		while (!unchanged(c));
		for (left = blocks; left; left &= left - 1) {
			const enum refpmu_block block = refpmu_lowest_bit(left);

			copy(m, block, c->head, c->next);
		}
		/* What was current may have been recycled while it was copied. */
	} while (!unchanged(c));
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
