// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* The modelled hardware: registers, counters, clock, overflow status and the interrupt line. */
#include "model.h"

#define FIXED_BASE 32

#define CAPABILITIES_FULL_WIDTH_WRITE BIT_ULL(13)

#define EVTSEL_CODE (REFPMU_EVTSEL_EVENT | REFPMU_EVTSEL_UMASK)
#define EVTSEL_WRITABLE (EVTSEL_CODE | REFPMU_EVTSEL_USR | REFPMU_EVTSEL_OS | \
			 REFPMU_EVTSEL_INT | REFPMU_EVTSEL_EN)

/* No limit: more events, or ticks, than a step can ask for. */
#define UNBOUNDED (~0ULL)

/* Sets of privileges. */
#define RING_USER BIT_ULL(REFPMU_USER)
#define RING_KERNEL BIT_ULL(REFPMU_KERNEL)

static const u16 fixed_codes[REFPMU_MAX_FIXED] = {
	REFPMU_EVENT_INSTRUCTIONS,
	REFPMU_EVENT_CYCLES,
	REFPMU_EVENT_REF_CYCLES,
};

/* What the stimuli need to know of a counter, general or fixed. */
struct counter {
	u64 status; /* its bit in GLOBAL_STATUS */
	u64 room; /* events that fit before the one that overflows it */
	u64 rings; /* privileges at which it counts; empty when it is off */
	u16 code;
	bool interrupts;
};

static u64 value_mask(const struct refpmu_model *m)
{
	return refpmu_low_bits(m->params.width);
}

/* Bits of the global registers that stand for a counter. */
static u64 status_mask(const struct refpmu_model *m)
{
	return refpmu_low_bits(m->params.general) | refpmu_low_bits(m->params.fixed) << FIXED_BASE;
}

static unsigned int counter_count(const struct refpmu_model *m)
{
	return m->params.general + m->params.fixed;
}

/* The value of counter @i: the fixed ones follow the general ones. */
static u64 *counter_value(struct refpmu_model *m, unsigned int i)
{
	return i < m->params.general ? &m->pmc[i] : &m->fixed_ctr[i - m->params.general];
}

static struct counter counter_at(const struct refpmu_model *m, unsigned int i)
{
	struct counter c = { .rings = 0 };
	u64 value;

	if (i < m->params.general) {
		const u64 evtsel = m->evtsel[i];

		value = m->pmc[i];
		c.status = BIT_ULL(i);
		c.code = (u16)(evtsel & EVTSEL_CODE);
		c.interrupts = evtsel & REFPMU_EVTSEL_INT;
		if (evtsel & REFPMU_EVTSEL_EN) {
			c.rings |= evtsel & REFPMU_EVTSEL_USR ? RING_USER : 0;
			c.rings |= evtsel & REFPMU_EVTSEL_OS ? RING_KERNEL : 0;
		}
	} else {
		const unsigned int fixed = i - m->params.general;

		value = m->fixed_ctr[fixed];
		c.status = BIT_ULL(FIXED_BASE + fixed);
		c.code = fixed_codes[fixed];
		c.interrupts = m->fixed_ctrl & REFPMU_FIXED_PMI(fixed);
		c.rings |= m->fixed_ctrl & REFPMU_FIXED_USR(fixed) ? RING_USER : 0;
		c.rings |= m->fixed_ctrl & REFPMU_FIXED_OS(fixed) ? RING_KERNEL : 0;
	}
	if (!(m->global_ctrl & c.status))
		c.rings = 0;
	c.room = value_mask(m) - value;
	return c;
}

/* Count @n events on counter @i, which looks like @c. */
static void count(struct refpmu_model *m, unsigned int i, const struct counter *c, u64 n,
		  struct refpmu_model_step *step)
{
	u64 *value = counter_value(m, i);

	*value = (*value + n) & value_mask(m);
	if (n <= c->room)
		return;
	step->overflowed |= c->status;
	m->status |= c->status;
	if (c->interrupts)
		m->asserted |= c->status;
}

/* How much of @n happens when @room fit before the first overflow. */
static u64 step_length(u64 n, u64 room, bool run_on)
{
	return run_on || n <= room ? n : room + 1;
}

struct refpmu_model_step refpmu_model_pulse(struct refpmu_model *m, u16 code, u64 n,
					    enum refpmu_privilege priv, bool run_on)
{
	struct refpmu_model_step step = { .done = 0 };
	u64 room = UNBOUNDED;
	unsigned int i;

	for (i = 0; i < counter_count(m); i++) {
		const struct counter c = counter_at(m, i);

		if (c.code == code && c.rings & BIT_ULL(priv) && c.room < room)
			room = c.room;
	}

	step.done = step_length(n, room, run_on);
	for (i = 0; i < counter_count(m); i++) {
		const struct counter c = counter_at(m, i);

		if (c.code == code && c.rings & BIT_ULL(priv))
			count(m, i, &c, step.done, &step);
	}
	return step;
}

/* The clock drives @code once every 1 << @shift ticks. */
static bool clock_shift(u16 code, unsigned int *shift)
{
	switch (code) {
	case REFPMU_EVENT_CYCLES:
		*shift = 0;
		return true;
	case REFPMU_EVENT_INSTRUCTIONS:
		*shift = 1;
		return true;
	case REFPMU_EVENT_REF_CYCLES:
		*shift = 2;
		return true;
	default:
		return false;
	}
}

/* Events in the next @n ticks: the multiples of the divider among them; no sum here can wrap. */
static u64 ticked(const struct refpmu_model *m, u64 n, unsigned int shift)
{
	const u64 below = refpmu_low_bits(shift);

	return (n >> shift) + (((n & below) + (m->ticks & below)) >> shift);
}

/* Ticks that pass before the one that brings event number @room + 1. */
static u64 tick_room(const struct refpmu_model *m, u64 room, unsigned int shift)
{
	const u64 below = refpmu_low_bits(shift);

	if (room > UNBOUNDED >> shift)
		return UNBOUNDED;
	return (room << shift) + (below - (m->ticks & below));
}

/* The same for all counters that the clock drives at one of @rings. */
static u64 clock_room(const struct refpmu_model *m, u64 rings)
{
	u64 room = UNBOUNDED;
	unsigned int i, shift;

	for (i = 0; i < counter_count(m); i++) {
		const struct counter c = counter_at(m, i);

		if (c.rings & rings && clock_shift(c.code, &shift)) {
			const u64 ticks = tick_room(m, c.room, shift);

			if (ticks < room)
				room = ticks;
		}
	}
	return room;
}

struct refpmu_model_step refpmu_model_advance(struct refpmu_model *m, u64 n,
					      enum refpmu_privilege priv, bool run_on)
{
	struct refpmu_model_step step = { .done = 0 };
	unsigned int i, shift;

	step.done = step_length(n, clock_room(m, BIT_ULL(priv)), run_on);
	for (i = 0; i < counter_count(m); i++) {
		const struct counter c = counter_at(m, i);

		if (c.rings & BIT_ULL(priv) && clock_shift(c.code, &shift))
			count(m, i, &c, ticked(m, step.done, shift), &step);
	}
	m->ticks += step.done;
	return step;
}

u64 refpmu_model_ticks_to_overflow(const struct refpmu_model *m)
{
	const u64 room = clock_room(m, RING_USER | RING_KERNEL);

	return room == UNBOUNDED ? UNBOUNDED : room + 1;
}

bool refpmu_model_line(const struct refpmu_model *m)
{
	return m->asserted != 0;
}

int refpmu_model_reset(struct refpmu_model *m, const struct refpmu_model_params *params)
{
	struct refpmu_model_params copy;

	if (params->general < 1 || params->general > REFPMU_MAX_GENERAL ||
	    params->fixed > REFPMU_MAX_FIXED || params->width < 16 || params->width > 64)
		return -EINVAL;
	copy = *params; /* which may be those of @m */
	memset(m, 0, sizeof(*m));
	m->params = copy;
	return 0;
}

/* If @reg is one of @n registers that begin at @base, its index. */
static bool indexed(u32 reg, u32 base, unsigned int n, unsigned int *i)
{
	if (reg < base || reg - base >= n)
		return false;
	*i = reg - base;
	return true;
}

int refpmu_model_read(const struct refpmu_model *m, u32 reg, u64 *value)
{
	const unsigned int general = m->params.general;
	unsigned int i;

	if (indexed(reg, REFPMU_REG_PMC(0), general, &i) ||
	    indexed(reg, REFPMU_REG_A_PMC(0), general, &i)) {
		*value = m->pmc[i];
		return 0;
	}
	if (indexed(reg, REFPMU_REG_EVTSEL(0), general, &i)) {
		*value = m->evtsel[i];
		return 0;
	}
	if (indexed(reg, REFPMU_REG_FIXED_CTR(0), m->params.fixed, &i)) {
		*value = m->fixed_ctr[i];
		return 0;
	}

	switch (reg) {
	case REFPMU_REG_PERF_CAPABILITIES:
		*value = CAPABILITIES_FULL_WIDTH_WRITE;
		return 0;
	case REFPMU_REG_FIXED_CTR_CTRL:
		*value = m->fixed_ctrl;
		return 0;
	case REFPMU_REG_GLOBAL_STATUS:
		*value = m->status;
		return 0;
	case REFPMU_REG_GLOBAL_CTRL:
		*value = m->global_ctrl;
		return 0;
	case REFPMU_REG_GLOBAL_STATUS_RESET:
	case REFPMU_REG_GLOBAL_STATUS_SET:
		*value = 0;
		return 0;
	default:
		return -EINVAL;
	}
}

/* Store @value unless it has bits outside @writable. */
static int store(u64 *where, u64 value, u64 writable)
{
	if (value & ~writable)
		return -EINVAL;
	*where = value;
	return 0;
}

static u64 fixed_writable(const struct refpmu_model *m)
{
	u64 writable = 0;
	unsigned int i;

	for (i = 0; i < m->params.fixed; i++)
		writable |= REFPMU_FIXED_OS(i) | REFPMU_FIXED_USR(i) | REFPMU_FIXED_PMI(i);
	return writable;
}

int refpmu_model_write(struct refpmu_model *m, u32 reg, u64 value)
{
	const unsigned int general = m->params.general;
	unsigned int i;

	if (indexed(reg, REFPMU_REG_PMC(0), general, &i)) {
		/* The upper half is ignored; bit 31 takes its place. */
		m->pmc[i] = (u64)(s64)(s32)(u32)value & value_mask(m);
		return 0;
	}
	if (indexed(reg, REFPMU_REG_A_PMC(0), general, &i))
		return store(&m->pmc[i], value, value_mask(m));
	if (indexed(reg, REFPMU_REG_EVTSEL(0), general, &i))
		return store(&m->evtsel[i], value, EVTSEL_WRITABLE);
	if (indexed(reg, REFPMU_REG_FIXED_CTR(0), m->params.fixed, &i))
		return store(&m->fixed_ctr[i], value, value_mask(m));

	switch (reg) {
	case REFPMU_REG_FIXED_CTR_CTRL:
		return store(&m->fixed_ctrl, value, fixed_writable(m));
	case REFPMU_REG_GLOBAL_CTRL:
		return store(&m->global_ctrl, value, status_mask(m));
	case REFPMU_REG_GLOBAL_STATUS_RESET:
		if (value & ~status_mask(m))
			return -EINVAL;
		m->status &= ~value;
		m->asserted &= ~value;
		return 0;
	case REFPMU_REG_GLOBAL_STATUS_SET:
		if (value & ~status_mask(m))
			return -EINVAL;
		m->status |= value;
		m->asserted |= value;
		return 0;
	default:
		return -EINVAL;
	}
}
