// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of interrupt delivery as an NMI or an irq_work: timing and ownership. */
#include <linux/ktime.h>

#ifdef CONFIG_X86_LOCAL_APIC
#include <asm/nmi.h>
#endif

#include "compat/compat.h"
#include "core_pmu/irq.h"
#include "port/interrupt.h"
#include "rig.h"

#define PERIOD 10

struct way {
	const char *name;
	bool nmi;
};

static const struct way ways[] = {
	{ "nmi", true },
	{ "irq_work", false },
};

static void way_desc(const struct way *way, char *desc)
{
	strscpy(desc, way->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(way, ways, way_desc);

static bool nmi_at_boot;

/* The NMI handler is registered in both modes. In irq_work mode it claims nothing. */
static int pmi_init(struct kunit *test)
{
	const struct way *way = test->param_value;
	int err = rig_init(test);

	nmi_at_boot = refpmu_pmi_is_nmi;
	if (err || !way)
		return err;
	if (way->nmi && !nmi_at_boot)
		kunit_skip(test, "no NMI on this machine");
	refpmu_pmi_is_nmi = way->nmi;
	return 0;
}

static void pmi_exit(struct kunit *test)
{
	rig_exit(test);
	refpmu_pmi_is_nmi = nmi_at_boot;
}

/* Wait until pending interrupts and their remaining work are done. Interrupts on. */
static void wait_until_handled(struct kunit *test)
{
	const struct refpmu_cpu *cpuc = rig_cpu();
	const u64 deadline = ktime_get_ns() + NSEC_PER_SEC;

	while (refpmu_pending(cpuc) && ktime_get_ns() < deadline)
		cpu_relax();
	KUNIT_ASSERT_FALSE(test, refpmu_pending(cpuc));
}

static u64 handler_runs(void)
{
	return local64_read(&rig_cpu()->journal.pmi);
}

static void handler_runs_in_the_context_of_the_interrupt(struct kunit *test)
{
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, PERIOD);
	const struct way *way = test->param_value;
	const struct rig *rig = test->priv;
	u64 before;

	VERIFIES(test, "DRC-075");
	perf_event_enable(event);
	before = handler_runs();
	rig_pulse(test, RIG_PULSED, PERIOD);
	perf_event_disable(event);

	KUNIT_EXPECT_EQ(test, handler_runs() - before, 1ULL);
	KUNIT_ASSERT_EQ(test, rig->samples, 1U);
	KUNIT_EXPECT_TRUE(test, rig->seen[0].in_interrupt);
	KUNIT_EXPECT_EQ(test, rig->seen[0].in_nmi, way->nmi);
	KUNIT_EXPECT_EQ(test, rig->seen[0].count, (u64)PERIOD);
}

/* A second interrupt while the first is pending: interrupts are not counted. */
static void raise_twice(void)
{
	rig_tick(RIG_PULSED, PERIOD);
	refpmu_raise_pmi(rig_cpu());
	refpmu_raise_pmi(rig_cpu());
}

static void interrupt_stays_pending_while_the_pmu_is_disabled(struct kunit *test)
{
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, PERIOD);
	const struct rig *rig = test->priv;
	unsigned int early;
	u64 before, waited;
	bool latched;

	VERIFIES(test, "DRC-080");
	perf_event_enable(event);
	before = handler_runs();
	local_irq_disable();
	rig_tick(RIG_PULSED, PERIOD);
	perf_pmu_disable(event->pmu);
	refpmu_raise_pmi(rig_cpu());
	refpmu_raise_pmi(rig_cpu());
	local_irq_enable();
	wait_until_handled(test);
	early = rig->samples;
	waited = handler_runs();
	latched = rig_cpu()->latched;
	local_irq_disable();
	perf_pmu_enable(event->pmu);
	local_irq_enable();
	wait_until_handled(test);
	perf_event_disable(event);

	KUNIT_EXPECT_EQ(test, early, 0U);
	KUNIT_EXPECT_EQ(test, waited - before, 0ULL);
	KUNIT_EXPECT_TRUE(test, latched);
	KUNIT_EXPECT_EQ(test, rig->samples, 1U);
	KUNIT_EXPECT_EQ(test, handler_runs() - before, 1ULL);
	KUNIT_EXPECT_FALSE(test, rig_cpu()->latched);
}

static void interrupt_stays_pending_while_the_handler_is_masked(struct kunit *test)
{
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, PERIOD);
	const struct rig *rig = test->priv;
	unsigned int early, inner;

	perf_event_enable(event);
	local_irq_disable();
	refpmu_mask(rig_cpu());
	refpmu_mask(rig_cpu());
	raise_twice();
	local_irq_enable();
	wait_until_handled(test);
	early = rig->samples;
	local_irq_disable();
	refpmu_unmask(rig_cpu());
	local_irq_enable();
	wait_until_handled(test);
	inner = rig->samples;
	local_irq_disable();
	refpmu_unmask(rig_cpu());
	local_irq_enable();
	wait_until_handled(test);
	perf_event_disable(event);

	KUNIT_EXPECT_EQ(test, early, 0U);
	KUNIT_EXPECT_EQ(test, inner, 0U);
	KUNIT_EXPECT_EQ(test, rig->samples, 1U);
}

static void handler_claims_only_raised_interrupts(struct kunit *test)
{
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, PERIOD);
	const struct rig *rig = test->priv;
	irqreturn_t idle, unannounced;
	u64 before, after;

	VERIFIES(test, "DRC-074");
	local_irq_disable();
	rig_add(event, PERF_EF_START);
	before = handler_runs();
	idle = refpmu_nmi(rig_cpu());
	/*
	 * The handler claims nothing even if a status bit is set: the interrupt for it comes
	 * separately.
	 */
	rig_tick(RIG_PULSED, PERIOD);
	unannounced = refpmu_nmi(rig_cpu());
	after = handler_runs();
	rig_del(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, (int)idle, (int)IRQ_NONE);
	KUNIT_EXPECT_EQ(test, (int)unannounced, (int)IRQ_NONE);
	KUNIT_EXPECT_EQ(test, after - before, 0ULL);
	KUNIT_EXPECT_EQ(test, rig->samples, 0U);
}

#ifdef CONFIG_X86_LOCAL_APIC
static unsigned int foreign_nmis;

static int count_foreign_nmi(unsigned int type, struct pt_regs *regs)
{
	foreign_nmis++;
	return NMI_HANDLED;
}

static void nmi_of_another_source_is_not_claimed(struct kunit *test)
{
	const u64 deadline = ktime_get_ns() + NSEC_PER_SEC;
	u64 before;

	VERIFIES(test, "DRC-074");
	if (!nmi_at_boot)
		kunit_skip(test, "no NMI on this machine");
	foreign_nmis = 0;
	KUNIT_ASSERT_EQ(test, register_nmi_handler(NMI_LOCAL, count_foreign_nmi, 0, "refpmu_kunit"),
			0);
	before = handler_runs();
	preempt_disable();
	refpmu_compat_send_nmi();
	preempt_enable();
	while (!READ_ONCE(foreign_nmis) && ktime_get_ns() < deadline)
		cpu_relax();
	unregister_nmi_handler(NMI_LOCAL, "refpmu_kunit");
	KUNIT_EXPECT_EQ(test, foreign_nmis, 1U);
	KUNIT_EXPECT_EQ(test, handler_runs() - before, 0ULL);
}
#else
static void nmi_of_another_source_is_not_claimed(struct kunit *test)
{
	kunit_skip(test, "no NMI on this machine");
}
#endif

/* Each sample completes the next period, so the status never stays clear. */
static void overflow_again(struct rig *rig, struct perf_event *event)
{
	refpmu_model_pulse(&rig_cpu()->model, RIG_PULSED, PERIOD, REFPMU_KERNEL, true);
}

static void handler_ends_after_the_maximum_number_of_rounds(struct kunit *test)
{
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, PERIOD);
	struct rig *rig = test->priv;
	u64 off, on;

	VERIFIES(test, "DRC-074");
	rig->on_sample = overflow_again;
	local_irq_disable();
	rig_add(event, PERF_EF_START);
	rig_tick(RIG_PULSED, PERIOD);
	refpmu_irq(rig_cpu());
	rig->on_sample = NULL;
	off = rig_reg(REFPMU_REG_GLOBAL_CTRL);
	perf_pmu_disable(event->pmu);
	perf_pmu_enable(event->pmu);
	on = rig_reg(REFPMU_REG_GLOBAL_CTRL);
	rig_del(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, rig->samples, (unsigned int)REFPMU_IRQ_ROUNDS);
	KUNIT_EXPECT_EQ(test, off, 0ULL);
	KUNIT_EXPECT_NE(test, on, 0ULL);
}

static void interrupt_repeats_while_the_line_is_up(struct kunit *test)
{
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, PERIOD);
	struct rig *rig = test->priv;
	u64 before;

	rig->on_sample = overflow_again;
	perf_event_enable(event);
	before = handler_runs();
	local_irq_disable();
	rig_tick(RIG_PULSED, PERIOD);
	refpmu_raise_pmi(rig_cpu());
	local_irq_enable();
	wait_until_handled(test);
	rig->on_sample = NULL;

	/*
	 * The first run uses all rounds. The second run handles the rest, with the device disabled.
	 */
	KUNIT_EXPECT_EQ(test, handler_runs() - before, 2ULL);
	KUNIT_EXPECT_EQ(test, rig->samples, REFPMU_IRQ_ROUNDS + 1U);
	KUNIT_EXPECT_FALSE(test, refpmu_line(rig_cpu()));
	perf_event_disable(event);
}

static void held_line_reads_as_low(struct kunit *test)
{
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, PERIOD);
	bool held, released;

	local_irq_disable();
	rig_add(event, PERF_EF_START);
	rig_cpu()->line_held = true;
	rig_tick(RIG_PULSED, PERIOD);
	held = refpmu_line(rig_cpu());
	rig_cpu()->line_held = false;
	released = refpmu_line(rig_cpu());
	rig_del(event);
	local_irq_enable();

	KUNIT_EXPECT_FALSE(test, held);
	KUNIT_EXPECT_TRUE(test, released);
}

static bool was_in_handler;

static void check_in_handler(struct rig *rig, struct perf_event *event)
{
	was_in_handler = rig_cpu()->in_handler;
}

static void clock_stops_while_the_handler_runs(struct kunit *test)
{
	struct perf_event *event = rig_open_sampling(test, RIG_PULSED, PERIOD);
	struct rig *rig = test->priv;

	was_in_handler = false;
	rig->on_sample = check_in_handler;
	perf_event_enable(event);
	rig_pulse(test, RIG_PULSED, PERIOD);
	perf_event_disable(event);
	KUNIT_EXPECT_EQ(test, rig->samples, 1U);
	KUNIT_EXPECT_TRUE(test, was_in_handler);
	KUNIT_EXPECT_FALSE(test, rig_cpu()->in_handler);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(handler_runs_in_the_context_of_the_interrupt, way_gen_params),
	KUNIT_CASE_PARAM(interrupt_stays_pending_while_the_pmu_is_disabled, way_gen_params),
	KUNIT_CASE_PARAM(interrupt_stays_pending_while_the_handler_is_masked, way_gen_params),
	KUNIT_CASE_PARAM(handler_claims_only_raised_interrupts, way_gen_params),
	KUNIT_CASE(nmi_of_another_source_is_not_claimed),
	KUNIT_CASE(handler_ends_after_the_maximum_number_of_rounds),
	KUNIT_CASE_PARAM(interrupt_repeats_while_the_line_is_up, way_gen_params),
	KUNIT_CASE(held_line_reads_as_low),
	KUNIT_CASE_PARAM(clock_stops_while_the_handler_runs, way_gen_params),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_pmi",
	.init = pmi_init,
	.exit = pmi_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
