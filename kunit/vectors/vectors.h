/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Row types of the test vectors, which KUnit suites, unit tests and fuzz seeds share. */
#ifndef REFPMU_VECTORS_H
#define REFPMU_VECTORS_H

#include "config.h"
#include "constraint.h"
#include "events.h"
#include "period.h"
#include "state.h"

#define REFPMU_VECTOR_WANTS 8

struct refpmu_delta_vector {
	const char *name;
	u64 prev;
	u64 now;
	unsigned int width;
	u64 delta; /* expected */
};

struct refpmu_reload_vector {
	const char *name;
	unsigned int width;
	u64 min_period;
	u64 period;
	s64 left; /* before; refpmu_period.last is 0 before */
	u64 raw; /* this and the following fields: expected */
	bool elapsed;
	s64 left_after;
	u64 last_after;
};

struct refpmu_constraint_vector {
	const char *name;
	unsigned int n;
	struct refpmu_want wants[REFPMU_VECTOR_WANTS];
	int err; /* expected */
	s8 counter[REFPMU_VECTOR_WANTS]; /* expected if err is 0 */
	/* expected if err is 0; only for wants that need a register */
	s8 extra[REFPMU_VECTOR_WANTS];
};

struct refpmu_config_vector {
	const char *name;
	struct refpmu_attr attr;
	struct refpmu_caps caps;
	int err; /* expected */
	struct refpmu_request req; /* expected if err is 0 */
};

struct refpmu_state_vector {
	u8 state;
	enum refpmu_op op;
	u8 next; /* expected */
	u8 actions; /* expected */
};

#endif /* REFPMU_VECTORS_H */
