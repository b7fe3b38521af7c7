// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Stimuli of the modeled hardware: pulses, clock ticks, branches. */
#include "commit.h"
#include "count.h"
#include "ds.h"
#include "lbr.h"
#include "line.h"

/* State of a step. */
struct step {
	struct refpmu_change c;
	struct refpmu_occurrence what;
	struct refpmu_fill fill; /* .ds is also NULL if RECORDING is not claimed */
	u64 precise; /* counters that write records */
	u64 mask; /* of a counter's value */
	bool run_on;
	bool before_overflow; /* the step ends before an overflow */
	bool full; /* the buffer has no space for another record */
	unsigned int n; /* number of counters that count, unless they are frozen */
	struct refpmu_counter counters[REFPMU_COUNTERS];
	struct refpmu_model_step result;
};

static bool frozen(const struct refpmu_change *c)
{
	return refpmu_global(c)->status & REFPMU_STATUS_CTR_FROZEN;
}

/* Return the set of enabled counters. */
static u64 enabled_counters(const struct refpmu_change *c)
{
	return frozen(c) ? 0 : refpmu_global(c)->ctrl;
}

bool refpmu_model_counting(const struct refpmu_model *m)
{
	struct refpmu_change view;
	bool counting;

	do {
		view = refpmu_view(m);
		counting = enabled_counters(&view) != 0;
	} while (!refpmu_view_is_current(&view));
	return counting;
}

/* Return the number of counters that count now. */
static unsigned int running(const struct step *s)
{
	return frozen(&s->c) ? 0 : s->n;
}

static u64 status_of(const struct refpmu_counter *counter)
{
	return BIT_ULL(counter->bit);
}

/* Return true if the next overflow of @counter has no effect (see min_period). */
static bool is_muted(const struct refpmu_change *c, const struct refpmu_counter *counter)
{
	return READ_ONCE(refpmu_count(c)->muted) & status_of(counter);
}

/*
 * Return true if the step must handle the overflow of @counter at the exact event, or stop before
 * it.
 */
static bool must_stop(const struct step *s, const struct refpmu_counter *counter)
{
	if (s->before_overflow || is_muted(&s->c, counter))
		return true;
	if (s->precise & status_of(counter))
		return s->fill.ds && !s->full;
	if (!s->run_on)
		return true;
	return counter->interrupts && !refpmu_global(&s->c)->asserted &&
	       refpmu_recording(&s->c)->debugctl & REFPMU_DEBUGCTL_FREEZE_PERFMON;
}

/*
 * Return how many of the next @n pulses or ticks can be counted together. The last one may be an
 * overflow that must be handled; if the step must not overflow, the stretch ends before the
 * overflow.
 */
static u64 batch_size(const struct step *s, struct refpmu_clock_state now, u64 n)
{
	const struct refpmu_counter *counter = s->counters;
	const struct refpmu_counter *end = counter + running(s);
	const u64 *values = refpmu_count(&s->c)->value;

	for (; counter < end; counter++) {
		if (must_stop(s, counter)) {
			const u64 room = refpmu_counter_headroom(counter, now,
								 values[counter->index]);

			if (room < n)
				n = s->before_overflow && !is_muted(&s->c, counter) ? room :
				    room + 1;
		}
	}
	return n;
}

/*
 * Count @n pulses or ticks in @value of @counter, which writes records. Return true if a record is
 * due.
 */
static bool count_precisely(const struct step *s, const struct refpmu_counter *counter,
			    struct refpmu_clock_state now, u64 n, u64 *value)
{
	u64 reset;

	if (!s->fill.ds || n <= refpmu_counter_headroom(counter, now, *value)) {
		refpmu_counter_count(counter, now, n, value);
		return false;
	}
	/* The reset values are in the order of the bits in the global registers. */
	reset = READ_ONCE(s->fill.ds->reset[counter->bit]);
	refpmu_counter_count_reloads(counter, now, n, reset, value);
	return !s->full;
}

/* Write the record of @counters, which have just overflowed. Return the status bit that it sets. */
static u64 record(struct step *s, u64 counters)
{
	const enum refpmu_store_result fate =
		refpmu_pebs_store(&s->fill, &s->c, s->what.origin, counters);

	s->full = fate == REFPMU_LOST;
	return fate == REFPMU_STORED_AT_THRESHOLD ? REFPMU_STATUS_DS : 0;
}

/*
 * Count @n pulses or ticks in all counters, and raise the line. Only the last pulse or tick can be
 * an overflow that must be handled.
 */
static void count(struct step *s, struct refpmu_clock_state now, u64 n)
{
	const struct refpmu_counter *counter = s->counters;
	const struct refpmu_counter *end = counter + running(s);
	struct refpmu_count *state = refpmu_count(&s->c);
	u64 overflowed = 0, asserted = 0, records = 0;

	for (; counter < end; counter++) {
		const u64 status = status_of(counter);
		u64 *value = &state->value[counter->index];

		if (is_muted(&s->c, counter)) {
			if (refpmu_counter_count(counter, now, n, value))
				state->muted &= ~status;
		} else if (s->precise & status) {
			if (count_precisely(s, counter, now, n, value))
				records |= status;
		} else if (refpmu_counter_count(counter, now, n, value)) {
			overflowed |= status;
			asserted |= counter->interrupts ? status : 0;
		}
	}
	if (records) {
		const u64 full = record(s, records);

		overflowed |= full;
		asserted |= full;
	}
	if (overflowed)
		refpmu_raise_status(&s->c, overflowed, asserted);
	s->result.overflowed |= overflowed;
}

/* Process one stretch of the stimulus. */
static void advance(struct step *s, u64 n)
{
	const struct refpmu_clock_state now = { refpmu_global(&s->c)->ticks, s->mask };
	const u64 part = batch_size(s, now, n);

	count(s, now, part);
	if (s->what.clock)
		refpmu_global(&s->c)->ticks += part;
	s->result.done += part;
}

static void run(struct step *s, u64 n)
{
	while (s->result.done < n && (s->run_on || !s->result.overflowed))
		advance(s, n - s->result.done);
}

/*
 * Begin a step, given the state in @view. It writes @blocks and the blocks that the counters need.
 * Return false if the state has changed since @view.
 */
static bool begin(struct step *s, const struct refpmu_change *view, u64 blocks, bool run_on)
{
	struct refpmu_model *m = view->m;

	s->precise = refpmu_recording(view)->pebs_enable;
	if (refpmu_has_pebs_format3(m))
		s->precise &= refpmu_low_bits(m->params.general);
	blocks |= BIT_ULL(REFPMU_BLOCK_GLOBAL);
	if (enabled_counters(view))
		blocks |= BIT_ULL(REFPMU_BLOCK_COUNT);
	if (s->precise)
		blocks |= BIT_ULL(REFPMU_BLOCK_RECORDING);
	refpmu_change_begin(&s->c, m, blocks);
	if (s->c.head != view->head) {
		refpmu_change_cancel(&s->c);
		return false;
	}
	s->fill.ds = NULL;
	if (blocks & BIT_ULL(REFPMU_BLOCK_RECORDING))
		refpmu_fill_begin(&s->fill, &s->c);
	s->mask = refpmu_low_bits(m->params.width);
	s->run_on = run_on;
	s->full = false;
	s->result = (struct refpmu_model_step){ .done = 0 };
	s->n = refpmu_counters_choose(&s->c, enabled_counters(&s->c), &s->what, s->counters);
	return true;
}

struct refpmu_model_step refpmu_model_stimulate(struct refpmu_model *m,
						const struct refpmu_stimulus *stimulus)
{
	struct refpmu_change view;
	struct step s; /* large, so begin() initializes only the fields that are used */

	s.before_overflow = false;
	s.what = (struct refpmu_occurrence){
		.clock = stimulus->clock,
		.rings = BIT_ULL(stimulus->origin->privilege),
		.code = stimulus->code,
		.other = stimulus->code,
		.occurrences = stimulus->per_pulse ? stimulus->per_pulse : 1,
		.origin = stimulus->origin,
	};
	if (s.what.occurrences > REFPMU_WIDE_PAIR)
		s.what.occurrences = REFPMU_WIDE_PAIR;
	do {
		do
			view = refpmu_view(m);
		while (!begin(&s, &view, 0, stimulus->run_on));
		run(&s, stimulus->n);
	} while (!refpmu_fill_commit(&s.fill, &s.c));
	return s.result;
}

/* Origins of a simple stimulus, with nothing but the privilege. */
static const struct refpmu_origin no_origin[] = {
	[REFPMU_USER] = { .privilege = REFPMU_USER },
	[REFPMU_KERNEL] = { .privilege = REFPMU_KERNEL },
};

struct refpmu_model_step refpmu_model_pulse(struct refpmu_model *m, u16 code, u64 n,
					    enum refpmu_privilege priv, bool run_on)
{
	const struct refpmu_stimulus stimulus = {
		.code = code,
		.n = n,
		.run_on = run_on,
		.origin = &no_origin[priv],
	};

	return refpmu_model_stimulate(m, &stimulus);
}

struct refpmu_model_step refpmu_model_advance(struct refpmu_model *m, u64 n,
					      enum refpmu_privilege priv, bool run_on)
{
	const struct refpmu_stimulus stimulus = {
		.clock = true,
		.n = n,
		.run_on = run_on,
		.origin = &no_origin[priv],
	};

	return refpmu_model_stimulate(m, &stimulus);
}

u64 refpmu_model_pass(struct refpmu_model *m, u64 n, enum refpmu_privilege priv)
{
	struct refpmu_change view;
	struct step s;
	u64 before;

	s.before_overflow = true;
	s.what = (struct refpmu_occurrence){
		.clock = true,
		.rings = BIT_ULL(priv),
		.origin = &no_origin[priv],
	};
	do {
		do
			view = refpmu_view(m);
		while (!begin(&s, &view, 0, false));
		do {
			before = s.result.done;
			advance(&s, n - before);
		} while (s.result.done > before && s.result.done < n);
	} while (!refpmu_fill_commit(&s.fill, &s.c));
	return s.result.done;
}

/* Return true if branches to targets of privilege @priv are written to the BTS buffer. */
static bool traced(const struct refpmu_change *c, enum refpmu_privilege priv)
{
	const u64 debugctl = READ_ONCE(refpmu_recording(c)->debugctl);
	const u64 on = REFPMU_DEBUGCTL_TR | REFPMU_DEBUGCTL_BTS;
	const u64 off = priv == REFPMU_USER ? REFPMU_DEBUGCTL_BTS_OFF_USR :
					      REFPMU_DEBUGCTL_BTS_OFF_OS;

	return (debugctl & on) == on && !(debugctl & off);
}

/* Return the blocks that a branch to a target of privilege @priv writes, as DEBUGCTL requires. */
static u64 branch_blocks(const struct refpmu_change *view, enum refpmu_privilege priv)
{
	u64 blocks = 0;

	if (READ_ONCE(refpmu_recording(view)->debugctl) & REFPMU_DEBUGCTL_LBR &&
	    !(READ_ONCE(refpmu_global(view)->status) & REFPMU_STATUS_LBR_FROZEN))
		blocks |= BIT_ULL(REFPMU_BLOCK_STACK);
	if (traced(view, priv))
		blocks |= BIT_ULL(REFPMU_BLOCK_RECORDING);
	return blocks;
}

struct refpmu_model_step refpmu_model_branch(struct refpmu_model *m, const struct refpmu_branch *b,
					     const struct refpmu_origin *origin, bool run_on)
{
	struct refpmu_change view;
	struct step s;
	u64 blocks;

	s.before_overflow = false;
	s.what = (struct refpmu_occurrence){
		.rings = BIT_ULL(origin->privilege),
		.code = REFPMU_EVENT_BRANCHES,
		.other = b->mispredicted ? REFPMU_EVENT_BRANCH_MISSES : REFPMU_EVENT_BRANCHES,
		.occurrences = 1,
		.origin = origin,
	};
	do {
		do {
			view = refpmu_view(m);
			blocks = branch_blocks(&view, origin->privilege);
		} while (!begin(&s, &view, blocks, run_on));
		if (blocks & BIT_ULL(REFPMU_BLOCK_STACK))
			refpmu_lbr_record(&s.c, b, origin->privilege);
		run(&s, 1);
		if (blocks & BIT_ULL(REFPMU_BLOCK_RECORDING) &&
		    refpmu_bts_store(&s.fill, &s.c, b) == REFPMU_STORED_AT_THRESHOLD) {
			refpmu_raise_status(&s.c, REFPMU_STATUS_DS, REFPMU_STATUS_DS);
			s.result.overflowed |= REFPMU_STATUS_DS;
		}
	} while (!refpmu_fill_commit(&s.fill, &s.c));
	return s.result;
}

/* Return the number of ticks before an overflow of @counter that has an effect. */
static u64 quiet_ticks(const struct refpmu_change *c, const struct refpmu_counter *counter,
		       struct refpmu_clock_state now)
{
	const u64 value = READ_ONCE(refpmu_count(c)->value[counter->index]);
	const u64 room = refpmu_counter_headroom(counter, now, value);
	u64 more;

	if (!is_muted(c, counter) || room == REFPMU_UNBOUNDED)
		return room;
	now.ticks += room + 1;
	more = refpmu_counter_headroom(counter, now, 0);
	return more < REFPMU_UNBOUNDED - room - 1 ? room + 1 + more : REFPMU_UNBOUNDED;
}

/* Return the occurrences like @what until a counter overflows; ~0 if none is that near. */
static u64 distance(const struct refpmu_model *m, const struct refpmu_occurrence *what)
{
	struct refpmu_clock_state now = { .mask = refpmu_low_bits(m->params.width) };
	struct refpmu_counter counters[REFPMU_COUNTERS];
	struct refpmu_change view;
	unsigned int i, n;
	u64 room, own;

	do {
		view = refpmu_view(m);
		now.ticks = READ_ONCE(refpmu_global(&view)->ticks);
		room = REFPMU_UNBOUNDED;
		n = refpmu_counters_choose(&view, enabled_counters(&view), what, counters);
		for (i = 0; i < n; i++) {
			own = quiet_ticks(&view, &counters[i], now);
			if (own < room)
				room = own;
		}
	} while (!refpmu_view_is_current(&view));
	return room == REFPMU_UNBOUNDED ? REFPMU_UNBOUNDED : room + 1;
}

u64 refpmu_model_distance(const struct refpmu_model *m, bool clock, u16 code,
			  enum refpmu_privilege priv)
{
	const struct refpmu_occurrence what = {
		.clock = clock,
		.rings = BIT_ULL(priv),
		.code = code,
		.other = code,
		.occurrences = 1,
		.origin = &no_origin[priv],
	};

	return distance(m, &what);
}

u64 refpmu_model_ticks_to_overflow(const struct refpmu_model *m)
{
	const struct refpmu_occurrence what = { .clock = true, .rings = REFPMU_RINGS_ALL };

	return distance(m, &what);
}

int refpmu_model_reset(struct refpmu_model *m, const struct refpmu_model_params *params)
{
	/* a copy, because @params may point into @m */
	const struct refpmu_model_params copy = *params;
	struct refpmu_stack *stack = &m->version[0].stack;
	unsigned int i;

	if (copy.general < 1 || copy.general > REFPMU_MAX_GENERAL)
		return -EINVAL;
	if (copy.fixed > REFPMU_MAX_FIXED || copy.width < 16 || copy.width > 64)
		return -EINVAL;
	if (copy.lbr && copy.lbr != 8 && copy.lbr != 16 && copy.lbr != 32)
		return -EINVAL;
	if (copy.pebs_format && copy.pebs_format != 3 && copy.pebs_format != 5)
		return -EINVAL;
	memset(m, 0, sizeof(*m));
	m->params = copy;
	m->words[REFPMU_BLOCK_GLOBAL] = sizeof(struct refpmu_global) / 8;
	m->words[REFPMU_BLOCK_SELECT] = REFPMU_WORD(select, evtsel[0]) + copy.general;
	m->words[REFPMU_BLOCK_COUNT] = REFPMU_WORD(count, value[0]) + copy.general + copy.fixed;
	m->words[REFPMU_BLOCK_RECORDING] = sizeof(struct refpmu_recording) / 8;
	m->words[REFPMU_BLOCK_STACK] = sizeof(struct refpmu_stack) / 8;
	for (i = 0; i < REFPMU_LBR_ENTRIES; i++)
		stack->map[i / 8] |= (u64)i << 8 * (i % 8);
	return 0;
}
