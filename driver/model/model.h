/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The modelled hardware: an architectural performance monitor of one logical CPU, reached only by
 * register reads and writes, by a clock and by pulses.
 * Source: Intel SDM vol. 3, chapter "Performance Monitoring" (architectural version 4 layout).
 *
 * Invariants: a counter holds at most width bits; a counter whose increment carries out of its top
 * bit is 0 or more afterwards and its status bit is set; status bits are cleared only by the
 * reset register; the line is up iff a set status bit belongs to a counter that asked for an
 * interrupt when it overflowed (or was injected) and has not been acknowledged since.
 * The caller owns memory, serialises calls and passes time in. Nothing here knows which driver
 * sits on it.
 */
#ifndef REFPMU_MODEL_H
#define REFPMU_MODEL_H

#include "refpmu_port.h"

#define REFPMU_MAX_GENERAL 32
#define REFPMU_MAX_FIXED 3

/* Registers, by their MSR numbers. */
#define REFPMU_REG_PMC(i) (0x0c1u + (i)) /* legacy write: 32 bits, sign-extended to the width */
#define REFPMU_REG_EVTSEL(i) (0x186u + (i))
#define REFPMU_REG_FIXED_CTR(i) (0x309u + (i))
#define REFPMU_REG_PERF_CAPABILITIES 0x345u
#define REFPMU_REG_FIXED_CTR_CTRL 0x38du
#define REFPMU_REG_GLOBAL_STATUS 0x38eu /* read only */
#define REFPMU_REG_GLOBAL_CTRL 0x38fu
#define REFPMU_REG_GLOBAL_STATUS_RESET 0x390u /* write 1 to clear */
#define REFPMU_REG_GLOBAL_STATUS_SET 0x391u /* write 1 to set (used to inject) */
#define REFPMU_REG_A_PMC(i) (0x4c1u + (i)) /* full-width write */

#define REFPMU_EVTSEL_EVENT 0x000000ffULL
#define REFPMU_EVTSEL_UMASK 0x0000ff00ULL
#define REFPMU_EVTSEL_USR BIT_ULL(16)
#define REFPMU_EVTSEL_OS BIT_ULL(17)
#define REFPMU_EVTSEL_INT BIT_ULL(20)
#define REFPMU_EVTSEL_EN BIT_ULL(22)

/* Four bits a fixed counter in FIXED_CTR_CTRL. */
#define REFPMU_FIXED_OS(i) BIT_ULL(4 * (i) + 0)
#define REFPMU_FIXED_USR(i) BIT_ULL(4 * (i) + 1)
#define REFPMU_FIXED_PMI(i) BIT_ULL(4 * (i) + 3)

/* GLOBAL_CTRL, _STATUS, _STATUS_RESET, _STATUS_SET: bit i general counter i, bit 32 + i fixed i. */

/* Event codes (unit mask << 8 | event) that the clock drives; all others take pulses only. */
#define REFPMU_EVENT_CYCLES 0x003cu
#define REFPMU_EVENT_INSTRUCTIONS 0x00c0u
#define REFPMU_EVENT_REF_CYCLES 0x013cu
/* Fixed counter 0 counts instructions, 1 cycles, 2 ref-cycles. */

enum refpmu_privilege { REFPMU_USER = 0, REFPMU_KERNEL = 1 };

struct refpmu_model_params {
	u8 general; /* 1 to REFPMU_MAX_GENERAL */
	u8 fixed; /* 0 to REFPMU_MAX_FIXED */
	u8 width; /* 16 to 64 */
};

struct refpmu_model {
	struct refpmu_model_params params;
	u64 evtsel[REFPMU_MAX_GENERAL];
	u64 pmc[REFPMU_MAX_GENERAL];
	u64 fixed_ctr[REFPMU_MAX_FIXED];
	u64 fixed_ctrl;
	u64 global_ctrl;
	u64 status;
	u64 asserted; /* status bits that hold the line up */
	u64 ticks; /* clock since reset: phase of the divided events */
};

/* Power-on state for @params; -EINVAL (and @m untouched) if they are out of range. */
int refpmu_model_reset(struct refpmu_model *m, const struct refpmu_model_params *params);

/* Read register @reg into @value; -EINVAL if there is no such register (as #GP on hardware). */
int refpmu_model_read(const struct refpmu_model *m, u32 reg, u64 *value);

/* Write register @reg; -EINVAL, and no change, for no such register or a reserved bit. */
int refpmu_model_write(struct refpmu_model *m, u32 reg, u64 value);

/* True while the interrupt line is asserted: level, until every asserted bit is acknowledged. */
bool refpmu_model_line(const struct refpmu_model *m);

/* How a stimulus stopped. */
struct refpmu_model_step {
	u64 done; /* events or ticks that happened, at most those asked for */
	u64 overflowed; /* counters that wrapped in this step, as status bits */
};

/*
 * Let up to @n events of @code happen at @priv. Stops right after the event that makes any enabled
 * counter overflow, unless @run_on, in which case all @n happen and each counter's status tells
 * whether it wrapped at least once. O(counters), whatever @n is.
 */
struct refpmu_model_step refpmu_model_pulse(struct refpmu_model *m, u16 code, u64 n,
					    enum refpmu_privilege priv, bool run_on);

/* The same for @n clock ticks: cycles every tick, instructions every 2nd, ref-cycles every 4th. */
struct refpmu_model_step refpmu_model_advance(struct refpmu_model *m, u64 n,
					      enum refpmu_privilege priv, bool run_on);

/*
 * Ticks until the clock next overflows a counter that is enabled at one privilege at least (and if
 * it stays at that privilege): advancing by this many overflows, by one less does not. ~0ULL if
 * never, or not sooner than that.
 */
u64 refpmu_model_ticks_to_overflow(const struct refpmu_model *m);

#endif /* REFPMU_MODEL_H */
