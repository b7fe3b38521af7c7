/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Registers of processors, and which of the model's they are. The model has Intel's numbers.
 * Source: Intel SDM vol. 4; AMD APM vol. 2, "Performance Monitoring Counters".
 */
#ifndef REFPMU_MSR_NUMBERS_H
#define REFPMU_MSR_NUMBERS_H

#include "model/model.h"

/* The processors that the model stands in for. */
enum refpmu_msr_kind {
	REFPMU_MSR_NONE,
	REFPMU_MSR_INTEL, /* architectural performance monitoring, version 4 */
	REFPMU_MSR_AMD_K7, /* four counters, and nothing else */
	REFPMU_MSR_AMD_CORE, /* family 15h: six, with numbers of their own beside those of the K7 */
	REFPMU_MSR_AMD_V2, /* and registers for all of them together */
};

/* There is neither a switch nor a status for all counters: the interrupt is an edge. */
static inline bool refpmu_msr_is_bare(enum refpmu_msr_kind kind)
{
	return kind == REFPMU_MSR_AMD_K7 || kind == REFPMU_MSR_AMD_CORE;
}

/* A counter as RDPMC names it: bit 30 says that it is a fixed one. */
#define REFPMU_MSR_RDPMC_FIXED BIT_ULL(30)

/*
 * The register of the model that @msr of a processor with @params is; false if it is none of the
 * performance monitor.
 */
bool refpmu_msr_find(enum refpmu_msr_kind kind, const struct refpmu_model_params *params, u32 msr,
		     u32 *reg);

/*
 * Of the register that is @reg of the model, the bits that the processor keeps: DEBUGCTL has some
 * that others use.
 */
u64 refpmu_msr_theirs(u32 reg);

/*
 * What is to be written to @reg of the model when @value is written to the processor's. Selectors
 * have the processor's codes. Those of AMD also have fields that the model has not: the upper half
 * of an event's number, of which all but 0 count nothing, and guest and host, of which there are no
 * guests. AMD's status is cleared by writing ones wherever there is nothing to keep, too.
 */
u64 refpmu_msr_value(enum refpmu_msr_kind kind, const struct refpmu_model_params *params, u32 reg,
		     u64 value);

/* What the processor's register shows where @reg of the model holds @value. */
u64 refpmu_msr_shown(enum refpmu_msr_kind kind, const struct refpmu_model_params *params, u32 reg,
		     u64 value);

/*
 * The model's code of an event that the processor's driver knows by @code, and the other way round.
 * On AMD's, cycles have another one. Intel's reference cycles have one that no selector takes, for
 * it counts other cycles by the code that they have in the model: Linux calls them 0x0300.
 */
u16 refpmu_msr_code(enum refpmu_msr_kind kind, u16 code);

/* The same for the counter that RDPMC reads by @number. */
bool refpmu_msr_find_pmc(const struct refpmu_model_params *params, u32 number, u32 *reg);

#endif /* REFPMU_MSR_NUMBERS_H */
