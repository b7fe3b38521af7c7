/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The modeled hardware: an architectural performance monitor of one logical CPU. Its interface
 * consists of register accesses, a clock and pulses. Source: Intel SDM vol. 3, chapter "Performance
 * Monitoring" (architectural version 4 layout).
 *
 * Invariants:
 *
 * - A counter has at most width bits.
 * - A counter that overflows continues from its remainder, and its status bit is set. A counter
 *   that writes records continues from its reset value instead, and has no effect other than the
 *   record.
 * - Only the reset register clears status bits.
 * - The line is up if and only if a status bit that asserts it was set and not cleared since. These
 *   are the bits of counters with interrupt enabled, the bit of the record area, and injected bits.
 *
 * Calls on one model may interrupt each other on a CPU (task, interrupt, NMI), up to five deep. The
 * effect of each call is as if it came before or after the call that it interrupts; no lock is
 * used. Calls must not overlap in any other way. In an interrupt, software must access a register
 * before it reads the indexes of the DS area. The caller owns all memory and provides the time. The
 * model does not depend on a driver.
 */
#ifndef REFPMU_MODEL_H
#define REFPMU_MODEL_H

#include "refpmu_port.h"
#include "record.h"
#include "registers.h"
#include "version.h"

enum refpmu_privilege { REFPMU_USER = 0, REFPMU_KERNEL = 1 };

/*
 * Origin of an event: data for its records, and for the conditions of event codes. All fields but
 * the privilege may be zero.
 */
struct refpmu_origin {
	enum refpmu_privilege privilege;
	u16 latency; /* cycles; LOAD_LATENCY counts only events above the threshold */
	/* OFFCORE counts events whose bits here are a nonempty subset of its register */
	u64 response;
	u64 ip;
	u64 addr; /* data address */
	u64 source; /* data source, as PERF_MEM_* bits */
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

/* A branch. The privilege of its origin is that of its target. */
struct refpmu_branch {
	u64 from;
	u64 to;
	enum refpmu_branch_kind kind;
	u16 cycles; /* since the previous branch */
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
	 * Minimum period. If a counter is written such that it overflows after fewer events than
	 * this, the overflow has no effect: no status, no record, no reset. 0 means 1: each
	 * overflow has an effect.
	 */
	u64 min_period;
	bool records; /* has PEBS, load latency and off-core response */
	bool trace; /* has BTS */
	/*
	 * Memory of the device: returns a pointer to @size bytes at @address, or NULL if they are
	 * not accessible; a record for that address is then lost. Without this function the device
	 * records nothing.
	 */
	void *(*memory)(void *context, u64 address, u64 size);
	void *context;
	u8 pebs_format; /* format of the records: 3 or 5; 0 means 5 */
};

/* Users may read only @params. */
struct refpmu_model {
	struct refpmu_model_params params;
	u64 head; /* generation, and current version of each block: see commit.h */
	u64 claims; /* versions in use besides the current ones */
	struct refpmu_fill *filling; /* innermost change that is writing records: see ds.h */
	u8 words[REFPMU_BLOCKS]; /* number of words of each block that this device has */
	struct refpmu_version version[REFPMU_VERSIONS];
	struct refpmu_pebs_lbr lbr[REFPMU_LBR_ENTRIES];
};

/*
 * Set the power-on state for @params. Return -EINVAL, with @m unchanged, if they are out of range.
 */
int refpmu_model_reset(struct refpmu_model *m, const struct refpmu_model_params *params);

/* Read register @reg into @value. Return -EINVAL if it does not exist (#GP on hardware). */
int refpmu_model_read(struct refpmu_model *m, u32 reg, u64 *value);

/*
 * Write register @reg. Return -EINVAL, with nothing changed, if it does not exist or a reserved bit
 * is set.
 */
int refpmu_model_write(struct refpmu_model *m, u32 reg, u64 value);

/*
 * Return true while the interrupt line is asserted. It is level-triggered: it stays asserted until
 * all asserting bits are acknowledged.
 */
bool refpmu_model_line(const struct refpmu_model *m);

/*
 * Lower the line, as an edge-triggered interrupt controller does: the status remains, and the next
 * overflow raises the line again.
 */
void refpmu_model_drop_line(struct refpmu_model *m);

/*
 * Return false while no counter is enabled by GLOBAL_CTRL, or all are frozen. Until the next
 * register write, stimuli then do not change any counter. O(1).
 */
bool refpmu_model_counting(const struct refpmu_model *m);

/* Result of a stimulus. */
struct refpmu_model_step {
	u64 done; /* events or ticks that happened, at most the requested number */
	/* status bits that this step set: counters that overflowed, and STATUS_DS */
	u64 overflowed;
};

/* Pulses of an event, or ticks of the clock. */
struct refpmu_stimulus {
	bool clock;
	u16 code; /* only for pulses */
	/*
	 * occurrences in each pulse, 1 to REFPMU_WIDE_PAIR; 0 means 1, larger values mean the
	 * maximum
	 */
	u8 per_pulse;
	u64 n; /* number of pulses or ticks */
	bool run_on;
	const struct refpmu_origin *origin;
};

/*
 * Generate up to @n pulses or ticks. The step stops right after the one that sets a status bit.
 * With @run_on all @n happen, and a status bit shows that its counter overflowed at least once. A
 * counter that writes records does not stop the step, but each of its records is written. Cost:
 * O(counters), independent of @n, plus O(counters) for each record that fits into the buffer.
 */
struct refpmu_model_step refpmu_model_stimulate(struct refpmu_model *m,
						const struct refpmu_stimulus *stimulus);

/* Generate a branch: it is written to the branch records, and is an event of the branch codes. */
struct refpmu_model_step refpmu_model_branch(struct refpmu_model *m, const struct refpmu_branch *b,
					     const struct refpmu_origin *origin, bool run_on);

/* Generate pulses of @code, one occurrence each, with no origin except the privilege. */
struct refpmu_model_step refpmu_model_pulse(struct refpmu_model *m, u16 code, u64 n,
					    enum refpmu_privilege priv, bool run_on);

/* Generate @n clock ticks, with no origin except the privilege. */
struct refpmu_model_step refpmu_model_advance(struct refpmu_model *m, u64 n,
					      enum refpmu_privilege priv, bool run_on);

/*
 * Generate up to @n clock ticks at @priv, but none that overflows a counter. Return their number.
 */
u64 refpmu_model_pass(struct refpmu_model *m, u64 n, enum refpmu_privilege priv);

/*
 * Return the number of ticks, or of pulses of @code, at @priv until a counter overflows: this
 * number overflows it, one less does not. Return ~0ULL if no overflow is that near.
 */
u64 refpmu_model_distance(const struct refpmu_model *m, bool clock, u16 code,
			  enum refpmu_privilege priv);

/*
 * Return the number of ticks until the clock overflows a counter, assuming a privilege at which the
 * counter is enabled: this number of ticks overflows it, one tick less does not. Return ~0ULL if no
 * overflow is that near.
 */
u64 refpmu_model_ticks_to_overflow(const struct refpmu_model *m);

#endif /* REFPMU_MODEL_H */
