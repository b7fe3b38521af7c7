/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Atomic changes of the device's state, without a lock. Code that interrupts a change on the same
 * CPU sees all of it or nothing.
 *
 * m->head contains a generation and the number of the current version of each block. A change
 * claims a free version of each block that it writes, copies the current version to it, and
 * modifies the copy. It then replaces the head by compare-and-exchange. If an interrupting change
 * has committed meanwhile, the exchange fails and the change starts again.
 *
 * An interrupting change always ends before the interrupted one continues, so claims need no atomic
 * operation. However, a version may become current between the read of the claims and the claim.
 * The change therefore reads the head again after the claim.
 *
 * The blocks that a change has claimed are consistent. Other blocks may be reused while the change
 * reads them. Its commit then fails, and until then it must tolerate a mixture of old and new
 * words. In particular, such words must not decide which block it writes: it must never write to a
 * block that it has not claimed.
 *
 * The indexes of the DS area are in memory that software reads, and they must move together with a
 * commit. Before the commit ds.c marks the indexes with the version that will move them, and moves
 * them after it. An interrupting access first completes or undoes such a move
 * (refpmu_finish_stores()).
 */
#ifndef REFPMU_MODEL_COMMIT_H
#define REFPMU_MODEL_COMMIT_H

#include "model.h"

struct refpmu_change {
	struct refpmu_model *m;
	u64 head; /* head at the start of the change */
	u64 next; /* head after the commit */
	u64 claims; /* claims of the interrupted changes */
};

static inline struct refpmu_version *refpmu_at(struct refpmu_model *m, u64 head,
					       enum refpmu_block block)
{
	return &m->version[refpmu_version_of(head, block)];
}

/*
 * The blocks as a change sees them: its own writable copy of a claimed block, otherwise the current
 * version.
 */
static inline struct refpmu_global *refpmu_global(const struct refpmu_change *c)
{
	return &refpmu_at(c->m, c->next, REFPMU_BLOCK_GLOBAL)->global;
}

static inline struct refpmu_select *refpmu_select(const struct refpmu_change *c)
{
	return &refpmu_at(c->m, c->next, REFPMU_BLOCK_SELECT)->select;
}

static inline struct refpmu_count *refpmu_count(const struct refpmu_change *c)
{
	return &refpmu_at(c->m, c->next, REFPMU_BLOCK_COUNT)->count;
}

static inline struct refpmu_recording *refpmu_recording(const struct refpmu_change *c)
{
	return &refpmu_at(c->m, c->next, REFPMU_BLOCK_RECORDING)->recording;
}

static inline struct refpmu_stack *refpmu_stack(const struct refpmu_change *c)
{
	return &refpmu_at(c->m, c->next, REFPMU_BLOCK_STACK)->stack;
}

/* Set @word of @block to @value, as a complete change. */
void refpmu_change_word(struct refpmu_model *m, enum refpmu_block block, unsigned int word,
			u64 value);

/* Begin a change of @blocks (a set of BIT_ULL(enum refpmu_block)). */
void refpmu_change_begin(struct refpmu_change *c, struct refpmu_model *m, u64 blocks);

/*
 * Make the change current. Return false, with nothing changed, if another change was committed
 * since it began.
 */
bool refpmu_change_commit(struct refpmu_change *c);

/* Discard the change. */
void refpmu_change_cancel(struct refpmu_change *c);

/*
 * Read the current state without a claim. The values are valid only if refpmu_view_is_current()
 * returns true afterwards.
 */
static inline struct refpmu_change refpmu_view(const struct refpmu_model *m)
{
	const u64 head = READ_ONCE(m->head);

	/* The cast is safe: nothing is written through this pointer. */
	return (struct refpmu_change){ .m = (struct refpmu_model *)m, .head = head, .next = head };
}

static inline bool refpmu_view_is_current(const struct refpmu_change *c)
{
	return READ_ONCE(c->m->head) == c->head;
}

/* Return the current value of @word of @block. */
static inline u64 refpmu_word(struct refpmu_model *m, enum refpmu_block block,
			      unsigned int word)
{
	u64 head, value;

	do {
		head = READ_ONCE(m->head);
		value = READ_ONCE(refpmu_block_words(&m->version[refpmu_version_of(head, block)],
						     block)[word]);
	} while (READ_ONCE(m->head) != head);
	return value;
}

#endif /* REFPMU_MODEL_COMMIT_H */
