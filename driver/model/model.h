/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The modelled hardware: an architectural performance monitor of one logical CPU, reached only by
 * register reads and writes, by a clock and by pulses.
 * Source: Intel SDM vol. 3, chapter "Performance Monitoring" (architectural version 4 layout).
 *
 * Invariants: a counter holds at most width bits; a counter whose increment carries out of its top
 * bit goes on from what is left of it, and its status bit is set, or, if it makes records, from its
 * reset, and nothing else shows than the record; status bits are cleared by the reset register
 * alone; the line is up iff a status bit that holds it has been set since it was last reset: those
 * of counters that asked for an interrupt, that of the record area, and injected ones.
 *
 * Calls on one model may interrupt each other on a CPU (task, interrupt, NMI): each is then as if
 * it had happened before or after the one that it interrupts, lock free, up to five deep. They must
 * not interleave otherwise. In an interrupt, software accesses a register before it looks at the
 * indexes of the DS area. The caller owns memory and passes time in. Nothing here knows which
 * driver sits on it.
 */
#ifndef REFPMU_MODEL_H
#define REFPMU_MODEL_H

#include "refpmu_port.h"
#include "record.h"
#include "registers.h"
#include "version.h"

enum refpmu_privilege { REFPMU_USER = 0, REFPMU_KERNEL = 1 };

/*
 * Where and how an event happens: what the records of it show, and what conditions on it look at.
 * All zero but the privilege is a fine one.
 */
struct refpmu_origin {
	enum refpmu_privilege privilege;
	u16 latency; /* cycles; LOAD_LATENCY counts events above the threshold alone */
	u64 response; /* OFFCORE counts events with bits here that are all in its register */
	u64 ip;
	u64 addr; /* of the data */
	u64 source; /* of the data, as PERF_MEM_* bits */
	u64 time; /* record time stamp */
	u64 flags;
	u64 gpr[REFPMU_GPRS];
};

enum refpmu_branch_kind {
	REFPMU_BRANCH_JCC,
	REFPMU_BRANCH_REL_CALL,
	REFPMU_BRANCH_IND_CALL,
	REFPMU_BRANCH_RET,
	REFPMU_BRANCH_IND_JMP,
	REFPMU_BRANCH_REL_JMP,
	REFPMU_BRANCH_FAR,
	REFPMU_BRANCH_MAX,
};

/* A branch that was taken. The privilege of its origin is that of where it ends. */
struct refpmu_branch {
	u64 from;
	u64 to;
	enum refpmu_branch_kind kind;
	u16 cycles; /* since the last one */
	bool mispredicted;
	bool in_tx;
	bool abort;
};

struct refpmu_model_params {
	u8 general; /* 1 to REFPMU_MAX_GENERAL */
	u8 fixed; /* 0 to REFPMU_MAX_FIXED */
	u8 width; /* 16 to 64 */
	u8 lbr; /* depth: 0 (none), 8, 16 or 32 */
	/*
	 * A counter that is written so near to its top that fewer events than this overflow it does
	 * so unnoticed: no status, no record, no reset. 0 as 1: each overflow shows.
	 */
	u64 min_period;
	bool records; /* PEBS, load latency and off-core response are there */
	bool trace; /* BTS is there */
	/*
	 * Memory as the device sees it: where @size bytes at @address are, or NULL if they are not
	 * all there (what would be stored is then lost). Without it nothing is ever recorded.
	 */
	void *(*memory)(void *context, u64 address, u64 size);
	void *context;
	u8 pebs_format; /* of the records: 3, or 5 (0 means it) */
};

/* Only what @params says is for others to look at. */
struct refpmu_model {
	struct refpmu_model_params params;
	u64 head; /* generation, and which version of each block is current: commit.h */
	u64 claims; /* versions in use beside the current ones */
	struct refpmu_fill *filling; /* who is writing records now: ds.h */
	u8 words[REFPMU_BLOCKS]; /* of each block, those that this device has */
	struct refpmu_version version[REFPMU_VERSIONS];
	struct refpmu_pebs_lbr lbr[REFPMU_LBR_ENTRIES];
};

/* Power-on state for @params; -EINVAL (and @m untouched) if they are out of range. */
int refpmu_model_reset(struct refpmu_model *m, const struct refpmu_model_params *params);

/* Read register @reg into @value; -EINVAL if there is no such register (as #GP on hardware). */
int refpmu_model_read(struct refpmu_model *m, u32 reg, u64 *value);

/* Write register @reg; -EINVAL, and no change, for no such register or a reserved bit. */
int refpmu_model_write(struct refpmu_model *m, u32 reg, u64 value);

/* True while the interrupt line is asserted: level, until every asserted bit is acknowledged. */
bool refpmu_model_line(const struct refpmu_model *m);

/*
 * Let the line fall as an interrupt controller does that takes edges: the status stays, and the
 * next overflow raises the line again.
 */
void refpmu_model_drop_line(struct refpmu_model *m);

/*
 * False while no counter is switched on (by GLOBAL_CTRL, and not frozen): until a register is
 * written, stimuli then change nothing that a counter shows. O(1).
 */
bool refpmu_model_counting(const struct refpmu_model *m);

/* How a stimulus stopped. */
struct refpmu_model_step {
	u64 done; /* events or ticks that happened, at most those asked for */
	u64 overflowed; /* status that this step set: counters that wrapped, and STATUS_DS */
};

/* Pulses of an event, or ticks of the clock. */
struct refpmu_stimulus {
	bool clock;
	u16 code; /* of pulses */
	u8 per_pulse; /* occurrences in each, 1 to REFPMU_WIDE_PAIR (0 means 1, more means that) */
	u64 n; /* pulses, or ticks */
	bool run_on;
	const struct refpmu_origin *origin;
};

/*
 * Let up to @n pulses or ticks happen. Stops right after the one that sets a status bit, unless
 * @run_on, in which case all @n happen and each counter's status tells whether it wrapped at least
 * once. A counter that makes records does not stop the step, but each of its records is written.
 * O(counters) whatever @n is, and for each record that fits into its buffer.
 */
struct refpmu_model_step refpmu_model_stimulate(struct refpmu_model *m,
						const struct refpmu_stimulus *stimulus);

/* Let one branch happen: it goes to the branch records and is an event of the branch codes. */
struct refpmu_model_step refpmu_model_branch(struct refpmu_model *m, const struct refpmu_branch *b,
					     const struct refpmu_origin *origin, bool run_on);

/* Pulses of @code, one occurrence each, of which nothing is known but the privilege. */
struct refpmu_model_step refpmu_model_pulse(struct refpmu_model *m, u16 code, u64 n,
					    enum refpmu_privilege priv, bool run_on);

/* The same for @n clock ticks. */
struct refpmu_model_step refpmu_model_advance(struct refpmu_model *m, u64 n,
					      enum refpmu_privilege priv, bool run_on);

/*
 * Let clock ticks happen at @priv up to @n, but none that overflows a counter; returns how many
 * did.
 */
u64 refpmu_model_pass(struct refpmu_model *m, u64 n, enum refpmu_privilege priv);

/*
 * Ticks until the clock next overflows a counter that is enabled at one privilege at least (and if
 * it stays at that privilege): advancing by this many overflows, by one less does not. ~0ULL if
 * never, or not sooner than that.
 */
u64 refpmu_model_ticks_to_overflow(const struct refpmu_model *m);

#endif /* REFPMU_MODEL_H */
