// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of add, del and transactions: assignment and release of counters, no leaks. */
/* Longer than 500 lines: one suite, whose cases compare the state of the CPU around a call. */
#include "core_pmu/irq.h"
#include "core_pmu/schedule.h"
#include "rig.h"

#define GENERAL 4 /* general counters: the default of the module */

/* State that a failure must not change. */
struct trace {
	u64 used;
	unsigned int n_events;
	unsigned int running;
	unsigned int disable_depth;
	unsigned int txn;
	u64 ctrl;
	u64 evtsel[GENERAL];
};

static struct trace save_state(void)
{
	const struct refpmu_cpu *cpuc = rig_cpu();
	struct trace trace = {
		.used = cpuc->used,
		.n_events = cpuc->n_events,
		.running = cpuc->running,
		.disable_depth = cpuc->disable_depth,
		.txn = cpuc->txn,
		.ctrl = rig_reg(REFPMU_REG_GLOBAL_CTRL),
	};
	unsigned int i;

	for (i = 0; i < GENERAL; i++)
		trace.evtsel[i] = rig_reg(REFPMU_REG_EVTSEL(i));
	return trace;
}

static void expect_same(struct kunit *test, const struct trace *have, const struct trace *want)
{
	unsigned int i;

	KUNIT_EXPECT_EQ(test, have->used, want->used);
	KUNIT_EXPECT_EQ(test, have->n_events, want->n_events);
	KUNIT_EXPECT_EQ(test, have->running, want->running);
	KUNIT_EXPECT_EQ(test, have->disable_depth, want->disable_depth);
	KUNIT_EXPECT_EQ(test, have->txn, want->txn);
	KUNIT_EXPECT_EQ(test, have->ctrl, want->ctrl);
	for (i = 0; i < GENERAL; i++)
		KUNIT_EXPECT_EQ_MSG(test, have->evtsel[i], want->evtsel[i], "selector %u", i);
}

static void open_pulsed(struct kunit *test, struct perf_event **events, unsigned int n)
{
	KUNIT_ASSERT_EQ(test, (int)rig_device->params.general, GENERAL);
	while (n--)
		events[n] = rig_open_pulsed(test);
}

/* Add the events in a transaction and commit it. Cancel it if that fails. */
static int add_group(struct perf_event **events, unsigned int n)
{
	struct pmu *pmu = &rig_device->pmu;
	unsigned int i;
	int err = 0;

	pmu->start_txn(pmu, PERF_PMU_TXN_ADD);
	for (i = 0; i < n && !err; i++)
		err = pmu->add(events[i], PERF_EF_START);
	if (!err)
		err = pmu->commit_txn(pmu);
	if (err) {
		while (i--)
			pmu->del(events[i], 0);
		pmu->cancel_txn(pmu);
	}
	return err;
}

static void each_event_has_a_counter_of_its_own(struct kunit *test)
{
	struct perf_event *events[GENERAL];
	u64 taken = 0, counts[GENERAL];
	unsigned int i;
	int err = 0;

	VERIFIES(test, "DRC-050", "DRV-034");
	open_pulsed(test, events, GENERAL);
	local_irq_disable();
	for (i = 0; i < GENERAL; i++) {
		err = err ?: rig_add(events[i], PERF_EF_START);
		if (!err)
			taken |= BIT_ULL(events[i]->hw.idx);
		rig_tick(RIG_PULSED, 10);
	}
	for (i = 0; i < GENERAL; i++) {
		rig_del(events[i]);
		counts[i] = rig_count(events[i]);
	}
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, taken, refpmu_low_bits(GENERAL));
	for (i = 0; i < GENERAL; i++)
		KUNIT_EXPECT_EQ(test, counts[i], 10ULL * (GENERAL - i));
}

static void failed_add_changes_nothing(struct kunit *test)
{
	struct perf_event *events[GENERAL + 1];
	struct trace before, after;
	u64 counts[GENERAL + 1];
	unsigned int i;
	int err;

	VERIFIES(test, "DRC-046", "DRV-006");
	open_pulsed(test, events, GENERAL + 1);
	local_irq_disable();
	for (i = 0; i < GENERAL; i++)
		rig_add(events[i], PERF_EF_START);
	before = save_state();
	rig_tick(RIG_PULSED, 5);
	err = rig_add(events[GENERAL], PERF_EF_START);
	after = save_state();
	rig_tick(RIG_PULSED, 5);
	for (i = 0; i < GENERAL; i++)
		rig_del(events[i]);
	for (i = 0; i <= GENERAL; i++)
		counts[i] = rig_count(events[i]);
	local_irq_enable();

	KUNIT_EXPECT_NE(test, err, 0);
	expect_same(test, &after, &before);
	for (i = 0; i < GENERAL; i++)
		KUNIT_EXPECT_EQ(test, counts[i], 10ULL);
	KUNIT_EXPECT_EQ(test, counts[GENERAL], 0ULL);
}

static void del_frees_the_counter(struct kunit *test)
{
	struct perf_event *event = rig_open_pulsed(test);
	struct trace before, after;
	unsigned int i, failed = 0;

	VERIFIES(test, "DRC-048", "DRV-008");
	local_irq_disable();
	before = save_state();
	for (i = 0; i < 100; i++) {
		failed += rig_add(event, i & 1 ? PERF_EF_START : 0) != 0;
		rig_tick(RIG_PULSED, 1);
		rig_del(event);
	}
	after = save_state();
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, failed, 0U);
	KUNIT_EXPECT_EQ(test, after.used, before.used);
	KUNIT_EXPECT_EQ(test, after.n_events, before.n_events);
	KUNIT_EXPECT_EQ(test, after.running, 0U);
	KUNIT_EXPECT_EQ(test, after.ctrl, 0ULL);
	KUNIT_EXPECT_EQ(test, rig_count(event), 50ULL);
}

static void del_removes_all_references_to_the_event(struct kunit *test)
{
	struct perf_event *event = rig_open_pulsed(test);
	const struct refpmu_cpu *cpuc = ((struct rig *)test->priv)->cpuc;
	unsigned int i;

	VERIFIES(test, "DRC-048");
	local_irq_disable();
	rig_add(event, PERF_EF_START);
	rig_del(event);
	local_irq_enable();

	for (i = 0; i < REFPMU_MAX_COUNTERS; i++)
		KUNIT_EXPECT_PTR_NE_MSG(test, cpuc->owner[i], event, "counter %u", i);
	KUNIT_EXPECT_EQ(test, event->hw.idx, -1);
}

static void del_discards_a_pending_overflow(struct kunit *test)
{
	struct perf_event *old = rig_open_pulsed(test);
	struct perf_event *successor = rig_open_pulsed(test);
	int old_idx, successor_idx;
	irqreturn_t claimed;
	bool was_up, is_up;
	u64 count;

	VERIFIES(test, "DRC-048", "DRV-008", "NMI-005");
	local_irq_disable();
	rig_add(old, PERF_EF_START);
	old_idx = old->hw.idx;
	rig_set_reg(REFPMU_REG_A_PMC(old_idx), refpmu_low_bits(rig_device->params.width));
	rig_tick(RIG_PULSED, 1);
	was_up = refpmu_line(rig_cpu());
	rig_del(old);
	rig_add(successor, PERF_EF_START);
	successor_idx = successor->hw.idx;
	is_up = refpmu_line(rig_cpu());
	claimed = refpmu_irq(rig_cpu());
	rig_tick(RIG_PULSED, 6);
	rig_del(successor);
	count = rig_count(successor);
	local_irq_enable();

	KUNIT_EXPECT_TRUE(test, was_up);
	KUNIT_EXPECT_EQ(test, successor_idx, old_idx);
	KUNIT_EXPECT_FALSE(test, is_up);
	KUNIT_EXPECT_EQ(test, (int)claimed, (int)IRQ_NONE);
	KUNIT_EXPECT_EQ(test, count, 6ULL);
}

static void fixed_counter_leaves_general_counters_to_others(struct kunit *test)
{
	struct perf_event_attr attr = rig_attr(REFPMU_EVENT_CYCLES);
	struct perf_event *events[GENERAL + 1];
	struct perf_event *cycles = rig_open(test, &attr);
	unsigned int i;
	int err, idx;

	VERIFIES(test, "DRV-034");
	open_pulsed(test, events, GENERAL);
	local_irq_disable();
	err = rig_add(cycles, PERF_EF_START);
	for (i = 0; i < GENERAL; i++)
		err = err ?: rig_add(events[i], PERF_EF_START);
	idx = cycles->hw.idx;
	for (i = 0; i < GENERAL; i++)
		rig_del(events[i]);
	rig_del(cycles);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, idx, REFPMU_FIXED_BASE + 1);
}

static void counter_is_written_before_it_is_enabled(struct kunit *test)
{
	struct perf_event *event = rig_open_pulsed(test);
	struct refpmu_log_entry *log;
	u32 value_reg, select_reg, i, n;
	int value_at = -1, enable_at = -1;

	VERIFIES(test, "DRC-081", "DRV-040");
	log = kunit_kcalloc(test, 64, sizeof(*log), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, log);
	local_irq_disable();
	rig_add(event, PERF_EF_START);
	n = refpmu_journal_copy(&rig_cpu()->journal, log, 64);
	value_reg = REFPMU_REG_A_PMC(event->hw.idx);
	select_reg = REFPMU_REG_EVTSEL(event->hw.idx);
	rig_del(event);
	local_irq_enable();

	for (i = 0; i < n; i++) {
		if (log[i].kind == REFPMU_LOG_CALL && log[i].what == REFPMU_CALL_ADD) {
			value_at = -1;
			enable_at = -1;
		}
		if (log[i].kind != REFPMU_LOG_WRITE)
			continue;
		if (log[i].what == value_reg)
			value_at = i;
		if (log[i].what == select_reg && log[i].arg & REFPMU_EVTSEL_EN)
			enable_at = i;
	}
	KUNIT_EXPECT_GE(test, value_at, 0);
	KUNIT_EXPECT_GT(test, enable_at, value_at);
}

/* The selectors of all counters, as the driver wrote them. */
struct selectors {
	u64 evtsel[GENERAL];
	u64 fixed;
	u64 ctrl;
	unsigned int enables; /* times that a counter was enabled */
	unsigned int changes; /* times that the selector of an enabled counter changed */
};

static struct selectors read_selectors(void)
{
	struct selectors selectors = {
		.fixed = rig_reg(REFPMU_REG_FIXED_CTR_CTRL),
		.ctrl = rig_reg(REFPMU_REG_GLOBAL_CTRL),
	};
	unsigned int i;

	for (i = 0; i < GENERAL; i++)
		selectors.evtsel[i] = rig_reg(REFPMU_REG_EVTSEL(i));
	return selectors;
}

/* A general counter is enabled by its own bit, whether or not GLOBAL_CTRL stops all counters. */
static void write_evtsel(struct selectors *to, u64 *evtsel, u64 value)
{
	to->enables += !(*evtsel & REFPMU_EVTSEL_EN) && value & REFPMU_EVTSEL_EN;
	to->changes += *evtsel & value & REFPMU_EVTSEL_EN && *evtsel != value;
	*evtsel = value;
}

/* All fixed counters are written at once, so they may change while GLOBAL_CTRL stops them. */
static void write_fixed(struct selectors *to, u64 value)
{
	unsigned int i;

	for (i = 0; i < rig_device->params.fixed; i++) {
		const u64 mask = REFPMU_FIXED_OS(i) | REFPMU_FIXED_USR(i);
		const u64 before = to->fixed & mask, after = value & mask;

		to->enables += !before && after;
		to->changes += to->ctrl & BIT_ULL(REFPMU_FIXED_BASE + i) && before && after &&
			       before != after;
	}
	to->fixed = value;
}

static void write_selectors(struct selectors *to, const struct refpmu_log_entry *log, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		const u32 reg = log[i].what;

		if (log[i].kind != REFPMU_LOG_WRITE)
			continue;
		if (reg >= REFPMU_REG_EVTSEL(0) && reg < REFPMU_REG_EVTSEL(GENERAL))
			write_evtsel(to, &to->evtsel[reg - REFPMU_REG_EVTSEL(0)], log[i].arg);
		else if (reg == REFPMU_REG_FIXED_CTR_CTRL)
			write_fixed(to, log[i].arg);
		else if (reg == REFPMU_REG_GLOBAL_CTRL)
			to->ctrl = log[i].arg;
	}
}

/* Let @first count, then @second. If @at_once, the PMU is disabled from one to the other. */
static void count_in_turn(struct perf_event *first, struct perf_event *second, bool at_once)
{
	rig_add(first, PERF_EF_START);
	rig_stop(first, PERF_EF_UPDATE);
	rig_start(first, PERF_EF_RELOAD);
	if (at_once)
		perf_pmu_disable(first->pmu);
	rig_del(first);
	rig_add(second, PERF_EF_START);
	if (at_once)
		perf_pmu_enable(first->pmu);
	rig_del(second);
}

#define TURN_LOG 256

static const struct turn {
	u64 config;
	bool exclude_user;
	bool exclude_kernel;
} turns[] = {
	{ RIG_PULSED },
	{ RIG_PULSED, .exclude_user = true },
	{ RIG_PULSED_TOO, .exclude_kernel = true },
	{ REFPMU_EVENT_WIDE },
	{ REFPMU_EVENT_BRANCHES },
	{ REFPMU_EVENT_CYCLES },
	{ REFPMU_EVENT_CYCLES, .exclude_user = true },
	{ REFPMU_EVENT_CYCLES, .exclude_kernel = true },
};

/*
 * Each event follows each other one, on the same counter or on another one. Between the two writes
 * of a driver that enables the counter first, it would count events of the previous selector.
 */
static void selector_of_an_enabled_counter_never_changes(struct kunit *test)
{
	struct perf_event *events[ARRAY_SIZE(turns)];
	struct refpmu_log_entry *log;
	unsigned int i, pair;

	VERIFIES(test, "DRV-040");
	log = kunit_kcalloc(test, TURN_LOG, sizeof(*log), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, log);
	for (i = 0; i < ARRAY_SIZE(turns); i++) {
		struct perf_event_attr attr = rig_attr(turns[i].config);

		attr.exclude_user = turns[i].exclude_user;
		attr.exclude_kernel = turns[i].exclude_kernel;
		events[i] = rig_open(test, &attr);
	}
	for (pair = 0; pair < 2 * ARRAY_SIZE(turns) * ARRAY_SIZE(turns); pair++) {
		const unsigned int first = pair / 2 / ARRAY_SIZE(turns);
		const unsigned int second = pair / 2 % ARRAY_SIZE(turns);
		struct selectors selectors;
		u64 begin, written;

		if (first == second)
			continue;
		local_irq_disable();
		selectors = read_selectors();
		begin = local64_read(&rig_cpu()->journal.next);
		count_in_turn(events[first], events[second], pair & 1);
		written = local64_read(&rig_cpu()->journal.next) - begin;
		refpmu_journal_copy(&rig_cpu()->journal, log, min_t(u64, written, TURN_LOG));
		local_irq_enable();

		KUNIT_ASSERT_LE(test, written, (u64)TURN_LOG);
		write_selectors(&selectors, log, written);
		KUNIT_EXPECT_GE(test, selectors.enables, 2U);
		KUNIT_EXPECT_EQ_MSG(test, selectors.changes, 0U, "event %u, then %u%s", first,
				    second, pair & 1 ? ", at once" : "");
	}
}

static void committed_group_counts(struct kunit *test)
{
	struct perf_event *events[GENERAL];
	u64 counts[GENERAL];
	struct trace after;
	unsigned int i;
	int err;

	VERIFIES(test, "DRV-016");
	open_pulsed(test, events, GENERAL);
	local_irq_disable();
	err = add_group(events, GENERAL);
	after = save_state();
	rig_tick(RIG_PULSED, 11);
	for (i = 0; i < GENERAL; i++) {
		rig_del(events[i]);
		counts[i] = rig_count(events[i]);
	}
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, after.txn, 0U);
	KUNIT_EXPECT_EQ(test, after.disable_depth, 0U);
	for (i = 0; i < GENERAL; i++)
		KUNIT_EXPECT_EQ(test, counts[i], 11ULL);
}

static void cancelled_group_changes_nothing(struct kunit *test)
{
	struct perf_event *events[GENERAL];
	struct perf_event *resident = rig_open_pulsed(test);
	struct trace before, after;
	unsigned int i, opened = 0;
	u64 count;
	int err;

	VERIFIES(test, "DRC-082", "DRV-006", "DRV-018");
	open_pulsed(test, events, GENERAL);
	local_irq_disable();
	rig_add(resident, PERF_EF_START);
	before = save_state();
	/* More rounds than there are counters that could leak. */
	for (i = 0; i < 3 * GENERAL; i++) {
		opened += !add_group(events, GENERAL);
		rig_tick(RIG_PULSED, 1);
	}
	after = save_state();
	err = add_group(events, GENERAL - 1);
	for (i = 0; !err && i < GENERAL - 1; i++)
		rig_del(events[i]);
	rig_del(resident);
	count = rig_count(resident);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, opened, 0U);
	expect_same(test, &after, &before);
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, count, 3ULL * GENERAL);
}

static void failed_commit_leaves_the_transaction_open(struct kunit *test)
{
	struct perf_event *events[GENERAL];
	struct perf_event *resident = rig_open_pulsed(test);
	struct pmu *pmu = &rig_device->pmu;
	struct trace before, open, after;
	unsigned int i;
	int added = 0, err;

	VERIFIES(test, "DRC-049", "DRC-082", "DRV-016", "DRV-017");
	open_pulsed(test, events, GENERAL);
	local_irq_disable();
	rig_add(resident, PERF_EF_START);
	before = save_state();
	pmu->start_txn(pmu, PERF_PMU_TXN_ADD);
	/* One event too many. Only commit_txn reports that. */
	for (i = 0; i < GENERAL; i++)
		added += !pmu->add(events[i], PERF_EF_START);
	err = pmu->commit_txn(pmu);
	open = save_state();
	for (i = 0; i < GENERAL; i++)
		pmu->del(events[i], 0);
	pmu->cancel_txn(pmu);
	after = save_state();
	rig_del(resident);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, added, GENERAL);
	KUNIT_EXPECT_NE(test, err, 0);
	KUNIT_EXPECT_EQ(test, open.txn, (unsigned int)PERF_PMU_TXN_ADD);
	KUNIT_EXPECT_EQ(test, open.ctrl, 0ULL);
	expect_same(test, &after, &before);
}

/*
 * Older kernels open a transaction on the PMU of a context even if the group has none of its
 * events.
 */
static void empty_transaction_changes_nothing(struct kunit *test)
{
	struct perf_event *resident = rig_open_pulsed(test);
	struct pmu *pmu = &rig_device->pmu;
	struct trace before, after;
	int err;

	VERIFIES(test, "DRV-020", "DRC-084");
	local_irq_disable();
	rig_add(resident, PERF_EF_START);
	before = save_state();
	pmu->start_txn(pmu, PERF_PMU_TXN_ADD);
	err = pmu->commit_txn(pmu);
	pmu->start_txn(pmu, PERF_PMU_TXN_ADD);
	pmu->cancel_txn(pmu);
	after = save_state();
	rig_tick(RIG_PULSED, 5);
	rig_del(resident);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, err, 0);
	expect_same(test, &after, &before);
	KUNIT_EXPECT_EQ(test, rig_count(resident), 5ULL);
}

static void read_transaction_does_not_stop_the_pmu(struct kunit *test)
{
	struct perf_event *event = rig_open_pulsed(test);
	struct pmu *pmu = &rig_device->pmu;
	u64 first, second;
	int err;

	VERIFIES(test, "DRC-083", "DRV-019");
	local_irq_disable();
	rig_add(event, PERF_EF_START);
	pmu->start_txn(pmu, PERF_PMU_TXN_READ);
	rig_tick(RIG_PULSED, 4);
	first = rig_read(event);
	err = pmu->commit_txn(pmu);
	rig_tick(RIG_PULSED, 4);
	pmu->start_txn(pmu, PERF_PMU_TXN_READ);
	second = rig_read(event);
	err = err ?: pmu->commit_txn(pmu);
	rig_del(event);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, first, 4ULL);
	KUNIT_EXPECT_EQ(test, second, 8ULL);
}

static struct perf_event *open_config(struct kunit *test, u64 config, u64 config1)
{
	struct perf_event_attr attr = rig_attr(config);

	attr.config1 = config1;
	return rig_open(test, &attr);
}

static void wide_event_has_both_counters_of_a_pair(struct kunit *test)
{
	const struct refpmu_origin origin = { .privilege = REFPMU_KERNEL };
	const struct refpmu_stimulus many = {
		.code = REFPMU_EVENT_WIDE,
		.per_pulse = 40, /* more than a single counter can count in a cycle */
		.n = 5,
		.run_on = true,
		.origin = &origin,
	};
	struct perf_event *wide = open_config(test, REFPMU_EVENT_WIDE, 0);
	u64 used, ctrl, on, stopped, freed, count;
	int idx, err;

	local_irq_disable();
	err = rig_add(wide, PERF_EF_START);
	idx = wide->hw.idx;
	used = rig_cpu()->used;
	ctrl = rig_reg(REFPMU_REG_GLOBAL_CTRL);
	on = rig_reg(REFPMU_REG_EVTSEL(idx + 1));
	refpmu_model_stimulate(&rig_cpu()->model, &many);
	rig_stop(wide, PERF_EF_UPDATE);
	stopped = rig_reg(REFPMU_REG_EVTSEL(idx + 1));
	rig_del(wide);
	freed = rig_cpu()->used;
	count = rig_count(wide);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, idx & 1, 0);
	KUNIT_EXPECT_EQ(test, used, 3ULL << idx);
	KUNIT_EXPECT_EQ(test, ctrl, 3ULL << idx);
	KUNIT_EXPECT_EQ(test, on & REFPMU_EVTSEL_CODE, (u64)REFPMU_EVENT_MERGE);
	KUNIT_EXPECT_TRUE(test, on & REFPMU_EVTSEL_EN);
	KUNIT_EXPECT_FALSE(test, stopped & REFPMU_EVTSEL_EN);
	KUNIT_EXPECT_EQ(test, freed, 0ULL);
	KUNIT_EXPECT_EQ(test, count, 200ULL);
}

static void group_with_only_one_assignment_is_scheduled(struct kunit *test)
{
	/* pulse_c needs one of the first two counters, so the wide event must not use them. */
	struct perf_event *events[] = {
		open_config(test, REFPMU_EVENT_WIDE, 0),
		open_config(test, 0x01d2, 0),
		open_config(test, 0x01d2, 0),
	};
	unsigned int i;
	int err, idx;

	local_irq_disable();
	err = add_group(events, ARRAY_SIZE(events));
	idx = events[0]->hw.idx;
	for (i = 0; !err && i < ARRAY_SIZE(events); i++)
		rig_del(events[i]);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, idx, 2);
}

static void cancelled_group_with_a_wide_event_changes_nothing(struct kunit *test)
{
	struct perf_event *events[] = {
		open_config(test, REFPMU_EVENT_WIDE, 0),
		rig_open_pulsed(test),
		rig_open_pulsed(test),
	};
	struct perf_event *resident = rig_open_pulsed(test);
	struct trace before, after;
	int err;

	VERIFIES(test, "DRC-082", "DRV-018");
	local_irq_disable();
	rig_add(resident, PERF_EF_START);
	before = save_state();
	err = add_group(events, ARRAY_SIZE(events));
	after = save_state();
	rig_del(resident);
	local_irq_enable();

	KUNIT_EXPECT_NE(test, err, 0);
	expect_same(test, &after, &before);
}

static void offcore_event_code_matches_its_register(struct kunit *test)
{
	static const u64 values[] = { 0x10001, 0x10002, 0x10001 };
	struct perf_event *events[3];
	u64 code[3], response[2];
	unsigned int i;
	int err = 0;

	for (i = 0; i < 3; i++)
		events[i] = open_config(test, REFPMU_EVENT_OFFCORE_0, values[i]);
	local_irq_disable();
	for (i = 0; i < 3; i++) {
		err = err ?: rig_add(events[i], PERF_EF_START);
		code[i] = rig_reg(REFPMU_REG_EVTSEL(events[i]->hw.idx)) & REFPMU_EVTSEL_CODE;
	}
	response[0] = rig_reg(REFPMU_REG_OFFCORE_RSP(0));
	response[1] = rig_reg(REFPMU_REG_OFFCORE_RSP(1));
	for (i = 0; i < 3; i++)
		rig_del(events[i]);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, code[0], (u64)REFPMU_EVENT_OFFCORE_0);
	KUNIT_EXPECT_EQ(test, code[1], (u64)REFPMU_EVENT_OFFCORE_1);
	KUNIT_EXPECT_EQ(test, code[2], (u64)REFPMU_EVENT_OFFCORE_0);
	KUNIT_EXPECT_EQ(test, response[0], values[0]);
	KUNIT_EXPECT_EQ(test, response[1], values[1]);
}

static void freed_register_is_used_for_another_value(struct kunit *test)
{
	struct perf_event *events[3];
	struct trace before, after;
	int refused, err;
	unsigned int i;

	VERIFIES(test, "DRC-046");
	for (i = 0; i < 3; i++)
		events[i] = open_config(test, REFPMU_EVENT_OFFCORE_0, 0x10001ULL << i);
	local_irq_disable();
	rig_add(events[0], PERF_EF_START);
	rig_add(events[1], PERF_EF_START);
	before = save_state();
	refused = rig_add(events[2], PERF_EF_START);
	after = save_state();
	rig_del(events[0]);
	err = rig_add(events[2], PERF_EF_START);
	rig_del(events[1]);
	if (!err)
		rig_del(events[2]);
	local_irq_enable();

	KUNIT_EXPECT_NE(test, refused, 0);
	expect_same(test, &after, &before);
	KUNIT_EXPECT_EQ(test, err, 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(each_event_has_a_counter_of_its_own),
	KUNIT_CASE(failed_add_changes_nothing),
	KUNIT_CASE(del_frees_the_counter),
	KUNIT_CASE(del_removes_all_references_to_the_event),
	KUNIT_CASE(del_discards_a_pending_overflow),
	KUNIT_CASE(fixed_counter_leaves_general_counters_to_others),
	KUNIT_CASE(counter_is_written_before_it_is_enabled),
	KUNIT_CASE(selector_of_an_enabled_counter_never_changes),
	KUNIT_CASE(committed_group_counts),
	KUNIT_CASE(cancelled_group_changes_nothing),
	KUNIT_CASE(failed_commit_leaves_the_transaction_open),
	KUNIT_CASE(empty_transaction_changes_nothing),
	KUNIT_CASE(read_transaction_does_not_stop_the_pmu),
	KUNIT_CASE(wide_event_has_both_counters_of_a_pair),
	KUNIT_CASE(group_with_only_one_assignment_is_scheduled),
	KUNIT_CASE(cancelled_group_with_a_wide_event_changes_nothing),
	KUNIT_CASE(offcore_event_code_matches_its_register),
	KUNIT_CASE(freed_register_is_used_for_another_value),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_schedule",
	.init = rig_init,
	.exit = rig_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
