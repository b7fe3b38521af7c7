/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The stack of last branch records. Private. */
#ifndef REFPMU_MODEL_LBR_H
#define REFPMU_MODEL_LBR_H

#include "commit.h"

/* The word of an entry that a register shows. */
enum refpmu_lbr_word { REFPMU_LBR_WORD_FROM, REFPMU_LBR_WORD_TO, REFPMU_LBR_WORD_INFO };

/* Return the value of register @i. */
struct refpmu_pebs_lbr refpmu_lbr_entry(const struct refpmu_change *c, unsigned int i);

/* Return the entry that is @age entries older than the newest; zeros if there is none. */
struct refpmu_pebs_lbr refpmu_lbr_recent(const struct refpmu_change *c, unsigned int age);

/* Record @b, unless LBR_SELECT filters it out. The change has claimed REFPMU_BLOCK_STACK. */
void refpmu_lbr_record(const struct refpmu_change *c, const struct refpmu_branch *b,
		       enum refpmu_privilege priv);

/* Set one word of register @i. The change has claimed REFPMU_BLOCK_STACK. */
void refpmu_lbr_set(const struct refpmu_change *c, unsigned int i, enum refpmu_lbr_word word,
		    u64 value);

#endif /* REFPMU_MODEL_LBR_H */
