// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of model/: the registers, counters, clock and interrupt line of the device. */
#include <kunit/test.h>

#include "verifies.h"
#include "model/model.h"

#define PULSED 0x1234 /* an event that the clock does not generate */
#define COUNTS (REFPMU_EVTSEL_USR | REFPMU_EVTSEL_OS | REFPMU_EVTSEL_INT | REFPMU_EVTSEL_EN)
#define FIXED(i) BIT_ULL(32 + (i))

static const struct refpmu_model_params params = { .general = 4, .fixed = 3, .width = 48 };

static int model_init(struct kunit *test)
{
	struct refpmu_model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);

	if (!m)
		return -ENOMEM;
	test->priv = m;
	return refpmu_model_reset(m, &params);
}

static void set(struct kunit *test, u32 reg, u64 value)
{
	KUNIT_ASSERT_EQ_MSG(test, refpmu_model_write(test->priv, reg, value), 0,
			    "register %#x, value %#llx", reg, value);
}

static u64 get(struct kunit *test, u32 reg)
{
	u64 value = 0;

	KUNIT_ASSERT_EQ_MSG(test, refpmu_model_read(test->priv, reg, &value), 0,
			    "register %#x", reg);
	return value;
}

/* Enable only general counter @i: it counts @event from @value on. */
static void count_on(struct kunit *test, unsigned int i, u64 event, u64 value)
{
	set(test, REFPMU_REG_A_PMC(i), value);
	set(test, REFPMU_REG_EVTSEL(i), event);
	set(test, REFPMU_REG_GLOBAL_CTRL, BIT_ULL(i));
}

static void reset_disables_everything(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < params.general; i++) {
		KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_EVTSEL(i)), 0ULL);
		KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_PMC(i)), 0ULL);
	}
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_FIXED_CTR_CTRL), 0ULL);
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_GLOBAL_CTRL), 0ULL);
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_GLOBAL_STATUS), 0ULL);
	KUNIT_EXPECT_FALSE(test, refpmu_model_line(test->priv));
}

static void invalid_parameters_are_rejected(struct kunit *test)
{
	static const struct refpmu_model_params bad[] = {
		{ .general = 0, .fixed = 3, .width = 48 },
		{ .general = REFPMU_MAX_GENERAL + 1, .fixed = 3, .width = 48 },
		{ .general = 4, .fixed = REFPMU_MAX_FIXED + 1, .width = 48 },
		{ .general = 4, .fixed = 3, .width = 15 },
		{ .general = 4, .fixed = 3, .width = 65 },
	};
	unsigned int i;

	count_on(test, 0, PULSED | COUNTS, 42);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ(test, refpmu_model_reset(test->priv, &bad[i]), -EINVAL);
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_PMC(0)), 42ULL);
}

static void absent_registers_fault(struct kunit *test)
{
	static const u32 absent[] = {
		0, REFPMU_REG_PMC(4), REFPMU_REG_EVTSEL(4), REFPMU_REG_A_PMC(4),
		REFPMU_REG_FIXED_CTR(3), REFPMU_REG_EVTSEL(0) - 1, U32_MAX,
	};
	unsigned int i;
	u64 value;

	for (i = 0; i < ARRAY_SIZE(absent); i++) {
		KUNIT_EXPECT_EQ_MSG(test, refpmu_model_read(test->priv, absent[i], &value),
				    -EINVAL, "read of %#x", absent[i]);
		KUNIT_EXPECT_EQ_MSG(test, refpmu_model_write(test->priv, absent[i], 0), -EINVAL,
				    "write of %#x", absent[i]);
	}
}

static void reserved_bits_fault_and_change_nothing(struct kunit *test)
{
	struct refpmu_model *m = test->priv;

	set(test, REFPMU_REG_EVTSEL(0), PULSED);
	KUNIT_EXPECT_EQ(test, refpmu_model_write(m, REFPMU_REG_EVTSEL(0), BIT_ULL(63)), -EINVAL);
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_EVTSEL(0)), (u64)PULSED);
	KUNIT_EXPECT_EQ(test, refpmu_model_write(m, REFPMU_REG_GLOBAL_CTRL, BIT_ULL(4)), -EINVAL);
	KUNIT_EXPECT_EQ(test, refpmu_model_write(m, REFPMU_REG_GLOBAL_CTRL, FIXED(3)), -EINVAL);
	KUNIT_EXPECT_EQ(test, refpmu_model_write(m, REFPMU_REG_A_PMC(0), BIT_ULL(48)), -EINVAL);
	KUNIT_EXPECT_EQ(test, refpmu_model_write(m, REFPMU_REG_FIXED_CTR_CTRL, BIT_ULL(12)),
			-EINVAL);
}

static void status_is_read_only(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, refpmu_model_write(test->priv, REFPMU_REG_GLOBAL_STATUS, 0),
			-EINVAL);
	set(test, REFPMU_REG_GLOBAL_STATUS_SET, BIT_ULL(2) | FIXED(1));
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_GLOBAL_STATUS), BIT_ULL(2) | FIXED(1));
}

static void legacy_write_extends_the_sign(struct kunit *test)
{
	set(test, REFPMU_REG_PMC(1), 0x80000000);
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_PMC(1)), 0xffff80000000ULL);
	set(test, REFPMU_REG_PMC(1), 0x7fffffff);
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_PMC(1)), 0x7fffffffULL);
	set(test, REFPMU_REG_A_PMC(1), 0x80000000);
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_PMC(1)), 0x80000000ULL);
}

static void only_the_selected_event_counts(struct kunit *test)
{
	count_on(test, 0, PULSED | COUNTS, 0);
	refpmu_model_pulse(test->priv, PULSED, 5, REFPMU_USER, false);
	refpmu_model_pulse(test->priv, PULSED + 1, 7, REFPMU_USER, false);
	/* The same event with another unit mask. */
	refpmu_model_pulse(test->priv, PULSED ^ 0x100, 7, REFPMU_USER, false);
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_PMC(0)), 5ULL);
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_PMC(1)), 0ULL);
}

static void counting_needs_both_enable_bits(struct kunit *test)
{
	count_on(test, 0, PULSED | COUNTS, 0);
	set(test, REFPMU_REG_GLOBAL_CTRL, 0);
	refpmu_model_pulse(test->priv, PULSED, 5, REFPMU_USER, false);
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_PMC(0)), 0ULL);
	count_on(test, 0, PULSED | (COUNTS & ~REFPMU_EVTSEL_EN), 0);
	refpmu_model_pulse(test->priv, PULSED, 5, REFPMU_USER, false);
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_PMC(0)), 0ULL);
}

static void privilege_filters_select_the_events(struct kunit *test)
{
	count_on(test, 0, PULSED | (COUNTS & ~REFPMU_EVTSEL_OS), 0);
	refpmu_model_pulse(test->priv, PULSED, 3, REFPMU_USER, false);
	refpmu_model_pulse(test->priv, PULSED, 50, REFPMU_KERNEL, false);
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_PMC(0)), 3ULL);
	count_on(test, 0, PULSED | (COUNTS & ~REFPMU_EVTSEL_USR), 0);
	refpmu_model_pulse(test->priv, PULSED, 3, REFPMU_USER, false);
	refpmu_model_pulse(test->priv, PULSED, 50, REFPMU_KERNEL, false);
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_PMC(0)), 50ULL);
}

static void clock_divides_exactly(struct kunit *test)
{
	unsigned int i;

	/* Fixed counter 0: instructions, 1: cycles, 2: ref-cycles; all at both privileges. */
	set(test, REFPMU_REG_FIXED_CTR_CTRL, 0x333);
	set(test, REFPMU_REG_GLOBAL_CTRL, FIXED(0) | FIXED(1) | FIXED(2));
	/* Odd steps: the remainder of the clock dividers must not be lost. */
	for (i = 0; i < 1000; i++)
		refpmu_model_advance(test->priv, 3, REFPMU_USER, false);
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_FIXED_CTR(1)), 3000ULL);
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_FIXED_CTR(0)), 1500ULL);
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_FIXED_CTR(2)), 750ULL);
}

static void pulse_stops_at_the_overflow(struct kunit *test)
{
	struct refpmu_model_step step;

	count_on(test, 2, PULSED | COUNTS, refpmu_low_bits(48) - 9);
	step = refpmu_model_pulse(test->priv, PULSED, 1000, REFPMU_USER, false);
	KUNIT_EXPECT_EQ(test, step.done, 10ULL);
	KUNIT_EXPECT_EQ(test, step.overflowed, BIT_ULL(2));
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_PMC(2)), 0ULL);
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_GLOBAL_STATUS), BIT_ULL(2));
	KUNIT_EXPECT_TRUE(test, refpmu_model_line(test->priv));
}

static void pulse_with_run_on_continues_after_an_overflow(struct kunit *test)
{
	struct refpmu_model_step step;

	count_on(test, 2, PULSED | COUNTS, refpmu_low_bits(48) - 9);
	step = refpmu_model_pulse(test->priv, PULSED, 1000, REFPMU_USER, true);
	KUNIT_EXPECT_EQ(test, step.done, 1000ULL);
	KUNIT_EXPECT_EQ(test, step.overflowed, BIT_ULL(2));
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_PMC(2)), 990ULL);
}

static void line_falls_with_the_last_acknowledge(struct kunit *test)
{
	set(test, REFPMU_REG_GLOBAL_STATUS_SET, BIT_ULL(0) | FIXED(2));
	KUNIT_EXPECT_TRUE(test, refpmu_model_line(test->priv));
	set(test, REFPMU_REG_GLOBAL_STATUS_RESET, BIT_ULL(0));
	KUNIT_EXPECT_TRUE(test, refpmu_model_line(test->priv));
	set(test, REFPMU_REG_GLOBAL_STATUS_RESET, FIXED(2));
	KUNIT_EXPECT_FALSE(test, refpmu_model_line(test->priv));
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_GLOBAL_STATUS), 0ULL);
}

static void overflow_without_int_raises_no_line(struct kunit *test)
{
	count_on(test, 0, PULSED | (COUNTS & ~REFPMU_EVTSEL_INT), refpmu_low_bits(48));
	refpmu_model_pulse(test->priv, PULSED, 1, REFPMU_USER, false);
	KUNIT_EXPECT_EQ(test, get(test, REFPMU_REG_GLOBAL_STATUS), BIT_ULL(0));
	KUNIT_EXPECT_FALSE(test, refpmu_model_line(test->priv));
}

static void ticks_to_overflow_are_exact(struct kunit *test)
{
	u64 ticks;

	KUNIT_EXPECT_EQ(test, refpmu_model_ticks_to_overflow(test->priv), ~0ULL);
	count_on(test, 0, REFPMU_EVENT_INSTRUCTIONS | COUNTS, refpmu_low_bits(48) - 99);
	ticks = refpmu_model_ticks_to_overflow(test->priv);
	KUNIT_EXPECT_EQ(test, refpmu_model_advance(test->priv, ticks - 1, REFPMU_USER, false)
			.overflowed, 0ULL);
	KUNIT_EXPECT_EQ(test, refpmu_model_advance(test->priv, 1, REFPMU_USER, false).overflowed,
			BIT_ULL(0));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(reset_disables_everything),
	KUNIT_CASE(invalid_parameters_are_rejected),
	KUNIT_CASE(absent_registers_fault),
	KUNIT_CASE(reserved_bits_fault_and_change_nothing),
	KUNIT_CASE(status_is_read_only),
	KUNIT_CASE(legacy_write_extends_the_sign),
	KUNIT_CASE(only_the_selected_event_counts),
	KUNIT_CASE(counting_needs_both_enable_bits),
	KUNIT_CASE(privilege_filters_select_the_events),
	KUNIT_CASE(clock_divides_exactly),
	KUNIT_CASE(pulse_stops_at_the_overflow),
	KUNIT_CASE(pulse_with_run_on_continues_after_an_overflow),
	KUNIT_CASE(line_falls_with_the_last_acknowledge),
	KUNIT_CASE(overflow_without_int_raises_no_line),
	KUNIT_CASE(ticks_to_overflow_are_exact),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_model",
	.init = model_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
