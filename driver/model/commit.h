/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * How a change of the device's state becomes visible all at once, without a lock, to whatever
 * interrupts it on the same CPU.
 *
 * m->head is a generation and the number of the current version of each block. A change claims a
 * free version of the blocks it writes, copies the current one there, works on the copy, and
 * replaces the head by compare-and-exchange; if something that interrupted it has committed
 * meanwhile, it starts again from there. What interrupts ends before what it interrupts goes on, so
 * the claims need no atomic operation; but a version may have become current between the look at
 * the claims and the claim, so the head is looked at once more after it.
 *
 * So what a change has claimed is consistent from its begin on. Other blocks may be recycled while
 * it reads them: then its commit fails, and until then it must be safe with a mixture of old and
 * new words. In particular, what is written must not hang on them: a block that was not claimed
 * must not be written.
 *
 * The indexes of the DS area lie in memory that software reads, and move with a commit: ds.c marks
 * them before it with the version that moves them, and moves them after it. Whoever comes in
 * between finishes or undoes that first (refpmu_settle).
 */
#ifndef REFPMU_MODEL_COMMIT_H
#define REFPMU_MODEL_COMMIT_H

#include "model.h"

#define REFPMU_GENERATION BIT_ULL(32)

struct refpmu_change {
	struct refpmu_model *m;
	u64 head; /* that this starts from */
	u64 next; /* that this makes of it */
	u64 claims; /* of whom it interrupted */
};

/* The version of @block that @head names. */
static inline unsigned int refpmu_version_of(u64 head, enum refpmu_block block)
{
	return head >> (4 * block) & 0xf;
}

static inline struct refpmu_version *refpmu_at(struct refpmu_model *m, u64 head,
					       enum refpmu_block block)
{
	return &m->version[refpmu_version_of(head, block)];
}

/* Blocks as a change sees them: its own copies of those it claimed, to be written; else current. */
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

/* Set @word of @block to @value: a change of that and nothing else. */
void refpmu_change_word(struct refpmu_model *m, enum refpmu_block block, unsigned int word,
			u64 value);

/* Begin a change of @blocks (a set of BIT_ULL(enum refpmu_block)). */
void refpmu_change_begin(struct refpmu_change *c, struct refpmu_model *m, u64 blocks);

/* Make it the current state; false if it came too late, and then nothing has changed. */
bool refpmu_change_commit(struct refpmu_change *c);

/* Give it up. */
void refpmu_change_cancel(struct refpmu_change *c);

/* A look at the current state. It counts if refpmu_look_holds says so after it. */
static inline struct refpmu_change refpmu_look(const struct refpmu_model *m)
{
	const u64 head = READ_ONCE(m->head);

	/* Nothing is written through it. */
	return (struct refpmu_change){ .m = (struct refpmu_model *)m, .head = head, .next = head };
}

static inline bool refpmu_look_holds(const struct refpmu_change *c)
{
	return READ_ONCE(c->m->head) == c->head;
}

/* The current @word of @block. */
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
