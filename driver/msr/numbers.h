/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Map registers of processors to those of the model, which has Intel's numbers. Source: Intel SDM
 * vol. 4; AMD APM vol. 2, "Performance Monitoring Counters".
 */
#ifndef REFPMU_MSR_NUMBERS_H
#define REFPMU_MSR_NUMBERS_H

#include "model/model.h"

/* Processors that the model can emulate. */
enum refpmu_msr_kind {
	REFPMU_MSR_NONE,
	REFPMU_MSR_INTEL, /* architectural performance monitoring, version 4 */
	REFPMU_MSR_AMD_K7, /* four counters, no other registers */
	/* family 15h: six counters, which have their own numbers in addition to those of the K7 */
	REFPMU_MSR_AMD_CORE,
	REFPMU_MSR_AMD_V2, /* like AMD_CORE, with global control and status registers */
};

/*
 * Return true for a monitor without global control and status registers. Its interrupt is
 * edge-triggered.
 */
static inline bool refpmu_msr_lacks_status(enum refpmu_msr_kind kind)
{
	return kind == REFPMU_MSR_AMD_K7 || kind == REFPMU_MSR_AMD_CORE;
}

/* Bit of a counter number of RDPMC that selects fixed counters. */
#define REFPMU_MSR_RDPMC_FIXED BIT_ULL(30)

/*
 * Find the register of the model for @msr of a processor with @params. Return false if @msr does
 * not belong to the performance monitor.
 */
bool refpmu_msr_find(enum refpmu_msr_kind kind, const struct refpmu_model_params *params, u32 msr,
		     u32 *reg);

/*
 * Return the bits that remain in the processor's own register. Only DEBUGCTL has some, because
 * other code uses them.
 */
u64 refpmu_msr_processor_bits(u32 reg);

/*
 * Convert @value, which is written to a register of the processor, to the value for @reg of the
 * model. Event selects use the processor's event codes. Those of AMD have two more fields. The
 * upper half of the event number: only 0 counts. Guest and host: there are no guests. AMD's status
 * clear register accepts ones for bits that do not exist.
 */
u64 refpmu_msr_written_value(enum refpmu_msr_kind kind, const struct refpmu_model_params *params,
			     u32 reg, u64 value);

/* Return the value that the processor's register shows if @reg of the model contains @value. */
u64 refpmu_msr_read_value(enum refpmu_msr_kind kind, const struct refpmu_model_params *params,
			  u32 reg, u64 value);

/*
 * Convert an event code of the processor's driver to the model's code, and back. AMD has another
 * code for cycles. Intel's reference cycles (0x0300 in Linux) have no event select code, because
 * the model's code for them counts other cycles on Intel.
 */
u16 refpmu_msr_code(enum refpmu_msr_kind kind, u16 code);

/* Find the register of the model for the counter that RDPMC reads by @number. */
bool refpmu_msr_find_pmc(const struct refpmu_model_params *params, u32 number, u32 *reg);

#endif /* REFPMU_MSR_NUMBERS_H */
