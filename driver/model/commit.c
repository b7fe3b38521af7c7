// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Versions of the device's state: claim, copy, commit. */
#include "commit.h"
#include "settle.h"

/* Find a version that is neither current in @head nor in @claims. */
static unsigned int free_version(u64 claims, u64 head, enum refpmu_block block)
{
	return refpmu_lowest_bit(~(claims >> 8 * block | BIT_ULL(refpmu_version_of(head, block))));
}

static inline void copy(struct refpmu_model *m, enum refpmu_block block, unsigned int from,
			unsigned int to)
{
	const u64 *source = refpmu_block_words(&m->version[from], block);
	u64 *target = refpmu_block_words(&m->version[to], block);
	const unsigned int count = m->words[block];
	unsigned int i;

	for (i = 0; i < count; i++)
		WRITE_ONCE(target[i], READ_ONCE(source[i]));
}

/* Claim a free version of each of @blocks, relative to the current head. */
static void claim(struct refpmu_change *c, u64 blocks)
{
	u64 claims = c->claims;
	u64 left;

	c->head = READ_ONCE(c->m->head);
	c->next = c->head + REFPMU_GENERATION;
	for (left = blocks; left; left &= left - 1) {
		const enum refpmu_block block = refpmu_lowest_bit(left);
		const unsigned int version = free_version(c->claims, c->head, block);

		c->next ^= (u64)(refpmu_version_of(c->head, block) ^ version) << 4 * block;
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

	refpmu_finish_stores(m);
	c->m = m;
	c->claims = READ_ONCE(m->claims);
	do {
		/* Another change may have made the version current before it was claimed. */
		do
			claim(c, blocks);
		while (!unchanged(c));
		for (left = blocks; left; left &= left - 1) {
			const enum refpmu_block block = refpmu_lowest_bit(left);

			copy(m, block, refpmu_version_of(c->head, block),
			     refpmu_version_of(c->next, block));
		}
		/* Another change may have reused the source while it was copied. */
	} while (!unchanged(c));
}

/* Restore the claims. A version that is current needs no claim. */
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

/*
 * Begin, change and commit in one function, with as few steps as possible: writing one register is
 * the most frequent operation of drivers.
 */
void refpmu_change_word(struct refpmu_model *m, enum refpmu_block block, unsigned int word,
			u64 value)
{
	const unsigned int shift = 4 * block;
	u64 claims, head, next;

	refpmu_finish_stores(m);
	claims = READ_ONCE(m->claims);
	do {
		unsigned int current, version;

		head = READ_ONCE(m->head);
		current = refpmu_version_of(head, block);
		version = free_version(claims, head, block);
		next = (head + REFPMU_GENERATION) ^ (u64)(current ^ version) << shift;
		WRITE_ONCE(m->claims, claims | BIT_ULL(2 * shift + version));
		/*
		 * The version may have become current before it was claimed. The commit would fail,
		 * so start again.
		 */
		if (READ_ONCE(m->head) != head)
			continue;
		/* The current version may be reused while it is copied. The commit then fails. */
		copy(m, block, current, version);
		refpmu_block_words(&m->version[version], block)[word] = value;
	} while (cmpxchg64_local(&m->head, head, next) != head);
	WRITE_ONCE(m->claims, claims);
}
