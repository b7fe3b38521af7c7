/* SPDX-License-Identifier: GPL-2.0-only */
/* The cases of pmu_contract: a file that includes them makes them a suite, of a PMU of its own. */
#include <linux/err.h>
#include <linux/kernfs.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "live.h"

#define ALONE 0 /* the event that every case has */
#define TURNS 100 /* more than a PMU has counters */

/* Why a case says nothing of counts. */
#define IDLE "the event does not happen by itself"
#define SOFTWARE "a software PMU keeps no state of a counter"

/* Adds it; false if that fails, which is a failure of the case. */
static bool added(struct kunit *test, int flags)
{
	int err = live_add(test->priv, ALONE, flags);

	KUNIT_EXPECT_TRUE_MSG(test, !err, "add: %d", err);
	return !err;
}

static void expect_settled(struct kunit *test)
{
	int flags = live_flags(test->priv, ALONE);

	KUNIT_EXPECT_TRUE_MSG(test, flags == LIVE_SETTLED, "its flags are %#x", flags);
}

/* Adds it, running, and waits until it counts, which takes so long; 0 if the case ends there. */
static u64 begin(struct kunit *test)
{
	struct live *live = test->priv;
	u64 pace;

	if (!live_is_whole(test))
		return 0;
	if (live->target->idle) {
		kunit_mark_skipped(test, IDLE);
		return 0;
	}
	if (!added(test, PERF_EF_START))
		return 0;
	pace = live_moves(live);
	KUNIT_EXPECT_TRUE_MSG(test, pace, "added and started, it does not count");
	return pace;
}

/* Whether state is kept in hw.state; else the case is skipped. */
static bool has_state(struct kunit *test)
{
	if (!live_is_whole(test))
		return false;
	if (!live_is_software(test->priv))
		return true;
	kunit_mark_skipped(test, SOFTWARE);
	return false;
}

/* The PMU and its device. */

static void operations_are_complete(struct kunit *test)
{
	const struct live *live = test->priv;
	const struct pmu *pmu = live->pmu;

	KEEPS(test, "DRC-001", "DRC-002", "DRC-003", "DRC-005", "DRC-098", "DRC-103", "DRV-036");
	KUNIT_EXPECT_TRUE_MSG(test, pmu->event_init, "event_init");
	KUNIT_EXPECT_TRUE_MSG(test, pmu->add, "add");
	KUNIT_EXPECT_TRUE_MSG(test, pmu->del, "del");
	KUNIT_EXPECT_TRUE_MSG(test, pmu->start, "start");
	KUNIT_EXPECT_TRUE_MSG(test, pmu->stop, "stop");
	KUNIT_EXPECT_TRUE_MSG(test, pmu->read, "read");
	/* perf has filled in what is absent together. */
	KUNIT_EXPECT_TRUE_MSG(test, pmu->pmu_enable && pmu->pmu_disable, "one without the other");
	KUNIT_EXPECT_TRUE_MSG(test, pmu->start_txn && pmu->commit_txn && pmu->cancel_txn,
			      "one without the others");
	KUNIT_EXPECT_TRUE_MSG(test, pmu->check_period && pmu->event_idx, "no default");
	KUNIT_EXPECT_TRUE_MSG(test, !pmu->setup_aux == !pmu->free_aux, "one without the other");
	KUNIT_EXPECT_TRUE_MSG(test, !pmu->nr_addr_filters || (pmu->addr_filters_validate &&
							      pmu->addr_filters_sync),
			      "filters that nobody sets");
}

static void type_and_name_are_those_of_the_device(struct kunit *test)
{
	const struct live *live = test->priv;
	const struct pmu *pmu = dev_get_drvdata(live->dev);

	KEEPS(test, "DRC-007", "DRC-008", "DRC-104");
	KUNIT_EXPECT_TRUE_MSG(test, pmu->name && !strcmp(pmu->name, dev_name(live->dev)),
			      "the device is called %s", dev_name(live->dev));
	KUNIT_EXPECT_TRUE_MSG(test, pmu->dev == live->dev, "the PMU has another device");
	KUNIT_EXPECT_TRUE_MSG(test, pmu->type >= 0, "its type is %d", pmu->type);
	/* By its number perf has found this PMU, and no other. */
	KUNIT_EXPECT_TRUE_MSG(test, live->pmu == pmu || live_is_software(live),
			      "type %d is that of another PMU", pmu->type);
}

static bool shows(const struct live *live, const char *name)
{
	struct kernfs_node *node = kernfs_find_and_get(live->dev->kobj.sd, name);

	kernfs_put(node);
	return node;
}

static void device_has_the_files_of_perf(struct kunit *test)
{
	const struct live *live = test->priv;
	const struct pmu *pmu = dev_get_drvdata(live->dev);

	KEEPS(test, "DRC-103", "DRC-104");
	KUNIT_EXPECT_TRUE_MSG(test, shows(live, "type"), "no file type");
	KUNIT_EXPECT_TRUE_MSG(test, shows(live, "perf_event_mux_interval_ms"),
			      "no file perf_event_mux_interval_ms");
	KUNIT_EXPECT_TRUE_MSG(test, shows(live, "nr_addr_filters") == !!pmu->nr_addr_filters,
			      "nr_addr_filters, for %u", pmu->nr_addr_filters);
}

/* Walks the driver's files of one folder of its device, or those of none. */
static void each_file(struct kunit *test, const char *folder, char *page,
		      void (*visit)(struct kunit *test, const char *name, const char *text))
{
	const struct live *live = test->priv;
	const struct pmu *pmu = dev_get_drvdata(live->dev);
	const struct attribute_group **group;
	struct attribute **attr;

	for (group = pmu->attr_groups; group && *group; group++) {
		if (!(*group)->name || strcmp((*group)->name, folder))
			continue;
		for (attr = (*group)->attrs; attr && *attr; attr++) {
			struct device_attribute *file =
				container_of(*attr, struct device_attribute, attr);

			if ((*group)->is_visible &&
			    !(*group)->is_visible(&live->dev->kobj, *attr, attr - (*group)->attrs))
				continue;
			KUNIT_EXPECT_TRUE_MSG(test, (*attr)->name && file->show,
					      "a file of %s has no name or cannot be read", folder);
			if (!(*attr)->name || !file->show)
				continue;
			memset(page, 0, PAGE_SIZE);
			KUNIT_EXPECT_TRUE_MSG(test, file->show(live->dev, file, page) > 0,
					      "%s/%s cannot be read", folder, (*attr)->name);
			visit(test, (*attr)->name, page);
		}
	}
}

/* "config1:0-7,21": true if it is a field, and bits that rise and that it has. */
static bool is_format(const char *text)
{
	unsigned int from, to;
	int length = 0;

	if (sscanf(text, "config%n", &length) != 0 || !length)
		return false;
	text += length;
	if (*text >= '1' && *text <= '3')
		text++;
	do {
		text++; /* the colon, then commas */
		length = 0;
		if (sscanf(text, "%u%n", &from, &length) != 1)
			return false;
		text += length;
		to = from;
		if (*text == '-' && sscanf(text, "-%u%n", &to, &length) != 1)
			return false;
		if (*text == '-')
			text += length;
		if (to < from || to > 63)
			return false;
	} while (*text == ',');
	return *text == '\n' || !*text;
}

static void expect_format(struct kunit *test, const char *name, const char *text)
{
	KUNIT_EXPECT_TRUE_MSG(test, is_format(text), "format/%s is %s", name, text);
}

static void formats_name_bits_of_a_field(struct kunit *test)
{
	char *page = kzalloc(PAGE_SIZE, GFP_KERNEL);

	KEEPS(test, "DRC-105", "DRC-109");
	if (page)
		each_file(test, "format", page, expect_format);
	KUNIT_EXPECT_TRUE_MSG(test, page, "no memory");
	kfree(page);
}

static void open_event_holds_the_module(struct kunit *test)
{
	struct live *live = test->priv;
	char where[128];
	int before, after;

	KEEPS(test, "DRC-009");
	snprintf(where, sizeof(where), "%ps", live->pmu->event_init);
	if (!strchr(where, '[')) {
		kunit_mark_skipped(test, "the driver is no module");
		return;
	}
	KUNIT_EXPECT_TRUE_MSG(test, live->pmu->module, "pmu.module is not set: %s", where);
	if (!live->pmu->module)
		return;
	before = live_references(live);
	if (!live_open(live)) {
		kunit_mark_skipped(test, "a second event cannot be opened");
		return;
	}
	after = live_references(live);
	KUNIT_EXPECT_TRUE_MSG(test, after > before, "%d references, and %d with another event",
			      before, after);
}

/* What event_init answers. */

static void foreign_types_are_nobodys(struct kunit *test)
{
	struct live *live = test->priv;
	struct perf_event_attr attr = live->attr;
	bool destroy;
	int err;

	KEEPS(test, "DRC-015", "DRC-017", "DRC-018", "DRC-036", "DRC-037", "INI-003");
	attr.type = LIVE_FOREIGN;
	err = live_ask(live, &attr, &destroy);
	KUNIT_EXPECT_TRUE_MSG(test, err == -ENOENT, "event_init: %d", err);
	KUNIT_EXPECT_TRUE_MSG(test, !destroy, "a destructor of an event of nobody");
	attr.config = ~0ULL;
	attr.config1 = ~0ULL;
	attr.config2 = ~0ULL;
	err = live_ask(live, &attr, &destroy);
	KUNIT_EXPECT_TRUE_MSG(test, err == -ENOENT, "event_init, of any config: %d", err);
	err = live_try(live, &attr, live->cpu, NULL);
	KUNIT_EXPECT_TRUE_MSG(test, err == -ENOENT, "somebody answers %d", err);
}

/* Laid over the attr of the event. */
struct pmu_contract_odd {
	const char *what;
	struct perf_event_attr attr;
};

static const struct pmu_contract_odd odd_requests[] = {
	{ "every bit of config", { .config = ~0ULL } },
	{ "every bit of config1", { .config1 = ~0ULL } },
	{ "every bit of config2", { .config2 = ~0ULL } },
	{ "the shortest period", { .sample_period = 1 } },
	{ "the longest period", { .sample_period = ~0ULL >> 1 } },
	{ "a frequency", { .sample_freq = 1000, .freq = 1 } },
	{ "precise", { .precise_ip = 3 } },
	{ "precise, sampling", { .precise_ip = 3, .sample_period = 1000 } },
	{ "branches", { .sample_period = 1000, .sample_type = PERF_SAMPLE_BRANCH_STACK,
			.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER } },
	{ "no user", { .exclude_user = 1 } },
	{ "no kernel", { .exclude_kernel = 1 } },
	{ "no hypervisor", { .exclude_hv = 1 } },
	{ "no idle", { .exclude_idle = 1 } },
	{ "no host", { .exclude_host = 1 } },
	{ "no guest", { .exclude_guest = 1 } },
};

static struct perf_event_attr odd_attr(const struct live *live, const struct pmu_contract_odd *odd)
{
	struct perf_event_attr attr = odd->attr;

	attr.type = live->attr.type;
	attr.size = live->attr.size;
	attr.config |= live->attr.config;
	attr.config1 |= live->attr.config1;
	attr.config2 |= live->attr.config2;
	attr.disabled = 1;
	return attr;
}

static void odd_requests_are_taken_or_refused_whole(struct kunit *test)
{
	struct live *live = test->priv;
	unsigned int i;

	KEEPS(test, "DRC-015", "DRC-020", "DRC-037");
	if (live_is_software(live)) {
		kunit_mark_skipped(test, "the type of a software PMU is that of several");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(odd_requests); i++) {
		const struct perf_event_attr attr = odd_attr(live, &odd_requests[i]);
		bool destroy;
		const int err = live_ask(live, &attr, &destroy);

		KUNIT_EXPECT_TRUE_MSG(test, err <= 0 && err >= -MAX_ERRNO, "%s: %d is no errno",
				      odd_requests[i].what, err);
		KUNIT_EXPECT_TRUE_MSG(test, err != -ENOENT, "%s: disowned", odd_requests[i].what);
		KUNIT_EXPECT_TRUE_MSG(test, !err || !destroy, "%s: refused, and a destructor left",
				      odd_requests[i].what);
	}
}

static bool refuses_what_it_has_not(int err)
{
	return err == -EOPNOTSUPP || err == -EINVAL;
}

static void sampling_is_refused_without_interrupt(struct kunit *test)
{
	struct live *live = test->priv;
	struct perf_event_attr attr = live->attr;
	int err;

	KEEPS(test, "DRC-033", "DRC-036");
	if (!(live->pmu->capabilities & PERF_PMU_CAP_NO_INTERRUPT)) {
		kunit_mark_skipped(test, "the PMU does not say that it has no interrupt");
		return;
	}
	/* perf itself refuses it to user space alone. */
	attr.sample_period = 1000;
	err = live_try(live, &attr, live->cpu, NULL);
	KUNIT_EXPECT_TRUE_MSG(test, refuses_what_it_has_not(err), "with a period: %d", err);
	attr.freq = 1;
	err = live_try(live, &attr, live->cpu, NULL);
	KUNIT_EXPECT_TRUE_MSG(test, refuses_what_it_has_not(err), "with a frequency: %d", err);
}

static void events_of_tasks_are_refused_machine_wide(struct kunit *test)
{
	struct live *live = test->priv;
	int err;

	KEEPS(test, "DRC-028", "DRC-036");
	if (live->pmu->task_ctx_nr != perf_invalid_context) {
		kunit_mark_skipped(test, "the PMU is not machine-wide: tasks have events of it");
		return;
	}
	err = live_try(live, &live->attr, -1, current);
	KUNIT_EXPECT_TRUE_MSG(test, refuses_what_it_has_not(err), "of a task: %d", err);
	err = live_try(live, &live->attr, live->cpu, current);
	KUNIT_EXPECT_TRUE_MSG(test, refuses_what_it_has_not(err), "of a task on a CPU: %d", err);
}

static void exclusion_is_refused_where_there_is_none(struct kunit *test)
{
	struct live *live = test->priv;
	unsigned int i;

	KEEPS(test, "DRC-032");
	if (!(live->pmu->capabilities & PERF_PMU_CAP_NO_EXCLUDE)) {
		kunit_mark_skipped(test, "the PMU does not say that it cannot exclude");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(odd_requests); i++) {
		const struct perf_event_attr attr = odd_attr(live, &odd_requests[i]);
		int err;

		if (!attr.exclude_user && !attr.exclude_kernel && !attr.exclude_hv &&
		    !attr.exclude_idle && !attr.exclude_host && !attr.exclude_guest)
			continue;
		err = live_try(live, &attr, live->cpu, NULL);
		KUNIT_EXPECT_TRUE_MSG(test, err == -EINVAL, "%s: %d", odd_requests[i].what, err);
	}
}

/* The event that is watched: its destructor, and how often it ran. */
static struct {
	void (*destroy)(struct perf_event *event);
	unsigned int calls;
} watched;

static void watch_destroy(struct perf_event *event)
{
	watched.calls++;
	watched.destroy(event);
}

static void destructor_runs_once(struct kunit *test)
{
	struct live *live = test->priv;
	struct perf_event *event = live->events[ALONE];

	KEEPS(test, "DRC-038", "DRV-015");
	if (!event->destroy) {
		kunit_mark_skipped(test, "the driver has no destructor");
		return;
	}
	watched.destroy = event->destroy;
	watched.calls = 0;
	event->destroy = watch_destroy;
	live_close(live);
	KUNIT_EXPECT_TRUE_MSG(test, watched.calls == 1, "it ran %u times", watched.calls);
}

/* add and del. */

static void add_without_start_is_an_add_and_a_stop(struct kunit *test)
{
	struct live *live = test->priv;
	u64 pace, from, to;
	int flags;

	KEEPS(test, "DRC-047", "DRV-004");
	pace = begin(test);
	if (!pace)
		return;
	live_del(live, ALONE);
	from = live_count(live, ALONE);
	if (!added(test, 0))
		return;
	flags = live_flags(live, ALONE);
	live_wait(live, pace);
	to = live_read(live, ALONE);
	KUNIT_EXPECT_TRUE_MSG(test, flags == LIVE_SETTLED || live_is_software(live),
			      "its flags are %#x", flags);
	KUNIT_EXPECT_TRUE_MSG(test, to == from, "it counts: %llu, then %llu", from, to);
	live_start(live, ALONE, PERF_EF_RELOAD);
	KUNIT_EXPECT_TRUE_MSG(test, live_moves(live), "started, it does not count");
}

static void added_event_is_stopped_until_it_is_started(struct kunit *test)
{
	KEEPS(test, "DRC-047", "DRV-004", "DRV-037");
	if (!has_state(test))
		return;
	if (added(test, 0))
		expect_settled(test);
}

static void add_with_start_counts(struct kunit *test)
{
	struct live *live = test->priv;

	KEEPS(test, "DRC-047", "DRC-053", "DRV-005", "DRV-037");
	if (begin(test))
		KUNIT_EXPECT_TRUE_MSG(test, !live_flags(live, ALONE), "its flags are %#x",
				      live_flags(live, ALONE));
}

/* Each case sees to that, and says so at its end; this one makes every call. */
static void callbacks_leave_things_as_they_were(struct kunit *test)
{
	struct live *live = test->priv;
	const char *left;

	KEEPS(test, "DRC-044", "DRC-057", "DRV-001", "DRV-002");
	if (!live_is_whole(test))
		return;
	if (!live_add(live, ALONE, 0)) {
		live_start(live, ALONE, PERF_EF_RELOAD);
		live_read(live, ALONE);
		live_stop(live, ALONE, PERF_EF_UPDATE);
		live_start(live, ALONE, 0);
		live_stop(live, ALONE, 0);
		live_del(live, ALONE);
	}
	left = live->left;
	live->left = NULL;
	KUNIT_EXPECT_TRUE_MSG(test, !left, "%s leaves %s other than it was", live->caller, left);
}

static void del_settles_a_running_event(struct kunit *test)
{
	struct live *live = test->priv;
	u64 pace, from, to;

	KEEPS(test, "DRC-048", "DRV-007", "DRV-037");
	pace = begin(test);
	if (!pace)
		return;
	from = live_count(live, ALONE);
	live_wait(live, pace);
	live_del(live, ALONE);
	to = live_count(live, ALONE);
	KUNIT_EXPECT_TRUE_MSG(test, to > from, "what it counted last is lost: %llu, then %llu",
			      from, to);
	if (!live_is_software(live))
		KUNIT_EXPECT_TRUE_MSG(test, live_flags(live, ALONE) == LIVE_SETTLED,
				      "its flags are %#x", live_flags(live, ALONE));
	live_wait(live, pace);
	KUNIT_EXPECT_TRUE_MSG(test, live_count(live, ALONE) == to, "its count is not final");
}

static void del_of_a_stopped_event_adds_nothing(struct kunit *test)
{
	struct live *live = test->priv;
	u64 pace, from;

	KEEPS(test, "DRC-048", "DRV-007");
	pace = begin(test);
	if (!pace)
		return;
	live_stop(live, ALONE, PERF_EF_UPDATE);
	from = live_count(live, ALONE);
	live_wait(live, pace);
	live_del(live, ALONE);
	KUNIT_EXPECT_TRUE_MSG(test, live_count(live, ALONE) == from, "%llu, then %llu", from,
			      live_count(live, ALONE));
}

static void count_goes_on_at_the_next_add(struct kunit *test)
{
	struct live *live = test->priv;
	u64 from, to;

	KEEPS(test, "DRC-048", "DRC-061", "DRC-095");
	if (!begin(test))
		return;
	live_del(live, ALONE);
	from = live_count(live, ALONE);
	if (!added(test, PERF_EF_START))
		return;
	KUNIT_EXPECT_TRUE_MSG(test, live_moves(live), "it does not count any more");
	to = live_count(live, ALONE);
	KUNIT_EXPECT_TRUE_MSG(test, to > from, "%llu, then %llu", from, to);
}

static void del_gives_the_counter_back(struct kunit *test)
{
	struct live *live = test->priv;
	unsigned int i;
	int err = 0;

	KEEPS(test, "DRC-048", "DRV-008");
	if (!live_is_whole(test))
		return;
	for (i = 0; i < TURNS && !err; i++) {
		err = live_add(live, ALONE, i % 2 ? live_how(live) : 0);
		if (!err)
			live_del(live, ALONE);
	}
	KUNIT_EXPECT_TRUE_MSG(test, !err, "add %u: %d", i, err);
}

/* What an event that is off is made of, as far as every driver has it. */
struct pmu_contract_books {
	int idx;
	int state;
	u64 count;
	u64 prev_count;
};

static struct pmu_contract_books books_of(const struct perf_event *event)
{
	return (struct pmu_contract_books){
		.idx = event->hw.idx,
		.state = event->hw.state,
		.count = local64_read(&event->count),
		.prev_count = local64_read(&event->hw.prev_count),
	};
}

static bool same_books(const struct pmu_contract_books *a, const struct pmu_contract_books *b)
{
	return a->idx == b->idx && a->state == b->state && a->count == b->count &&
	       a->prev_count == b->prev_count;
}

static void failed_add_leaves_nothing(struct kunit *test)
{
	struct live *live = test->priv;
	struct pmu_contract_books before, after;
	unsigned int n;
	int err;

	KEEPS(test, "DRC-045", "DRC-046", "DRV-006");
	if (!live_is_whole(test))
		return;
	n = live_fill(live);
	if (n == live->n_events) {
		kunit_mark_skipped(test, "no add fails: %u events are on at once", n);
		return;
	}
	KUNIT_EXPECT_TRUE_MSG(test, n, "the first add fails");
	if (!n)
		return;
	before = books_of(live->events[n]);
	err = live_add(live, n, live_how(live));
	after = books_of(live->events[n]);
	KUNIT_EXPECT_TRUE_MSG(test, err, "what was refused is added now");
	KUNIT_EXPECT_TRUE_MSG(test, same_books(&before, &after),
			      "index %d and state %#x, then %d and %#x", before.idx, before.state,
			      after.idx, after.state);
	/* The others keep theirs; one that goes makes room for it, and for nothing more. */
	live_del(live, n - 1);
	err = live_add(live, n, live_how(live));
	KUNIT_EXPECT_TRUE_MSG(test, !err, "there is room, and add: %d", err);
	if (err)
		return;
	err = live_add(live, n - 1, live_how(live));
	KUNIT_EXPECT_TRUE_MSG(test, err, "there was room for more");
}

static void full_pmu_takes_new_events(struct kunit *test)
{
	struct live *live = test->priv;
	unsigned int n;
	int err;

	KEEPS(test, "DRC-027");
	if (!live_is_whole(test))
		return;
	n = live_fill(live);
	if (n == live->n_events || live->pmu->capabilities & PERF_PMU_CAP_EXCLUSIVE) {
		kunit_mark_skipped(test, "the PMU is never full: %u events are on at once", n);
		return;
	}
	while (live->n_events > n + 1)
		live_close(live);
	err = live_try(live, &live->attr, live->cpu, NULL);
	KUNIT_EXPECT_TRUE_MSG(test, !err, "%u events are on, and a new one cannot be opened: %d", n,
			      err);
}

/* Fills the PMU; false, and skipped, if it is never full. */
static bool fill(struct kunit *test, unsigned int *fit)
{
	struct live *live = test->priv;

	if (!live_is_whole(test))
		return false;
	*fit = live_fill(live);
	if (*fit != live->n_events)
		return true;
	kunit_mark_skipped(test, "every group fits: %u events are on at once", *fit);
	return false;
}

static void group_is_judged_whole_however_busy_the_pmu_is(struct kunit *test)
{
	struct live *live = test->priv;
	struct live_group group;
	unsigned int fit;

	KEEPS(test, "DRC-022", "DRC-023", "DRC-027", "DRC-037");
	if (!fill(test, &fit))
		return;
	group = live_ask_group(live, LIVE_EVENTS, false);
	if (!group.err) {
		kunit_mark_skipped(test, "the driver judges no groups: %u are taken", group.taken);
		return;
	}
	KUNIT_EXPECT_TRUE_MSG(test, group.taken == fit, "%u fit, and a group of %u is refused: %d",
			      fit, group.taken + 1, group.err);
	KUNIT_EXPECT_TRUE_MSG(test, !group.destroy, "refused, and a destructor left");
	KUNIT_EXPECT_TRUE_MSG(test, !group.touched, "the leader is not as it was");
}

static void software_leader_needs_no_counter(struct kunit *test)
{
	struct live *live = test->priv;
	struct live_group group;
	unsigned int fit;

	KEEPS(test, "DRC-024", "DRC-025");
	if (!fill(test, &fit))
		return;
	group = live_ask_group(live, fit, true);
	KUNIT_EXPECT_TRUE_MSG(test, group.taken == fit,
			      "%u fit, and behind a software event the one after %u is refused: %d",
			      fit, group.taken, group.err);
	KUNIT_EXPECT_TRUE_MSG(test, !group.touched, "the leader is not as it was");
}

static void events_that_are_on_share_no_counter(struct kunit *test)
{
	struct live *live = test->priv;
	unsigned int n, i, j;

	KEEPS(test, "DRC-050", "DRC-087", "DRV-034");
	if (!live_is_whole(test))
		return;
	n = live_fill(live);
	for (i = 0; i < n; i++) {
		const int index = live->pmu->event_idx(live->events[i]);

		KUNIT_EXPECT_TRUE_MSG(test, index >= 0, "event %u has index %d", i, index);
		for (j = 0; index && j < i; j++)
			KUNIT_EXPECT_TRUE_MSG(test,
					      live->pmu->event_idx(live->events[j]) != index,
					      "events %u and %u have index %d", j, i, index);
	}
	KUNIT_EXPECT_TRUE_MSG(test, n, "no event can be added");
}

static void every_event_that_is_on_counts(struct kunit *test)
{
	struct live *live = test->priv;
	u64 from[LIVE_EVENTS], pace;
	unsigned int n, i;

	KEEPS(test, "DRC-046", "DRC-050", "DRV-034");
	pace = begin(test);
	if (!pace)
		return;
	live_del(live, ALONE);
	n = live_fill(live);
	for (i = 0; i < n; i++)
		from[i] = live_read(live, i);
	live_wait(live, pace);
	for (i = 0; i < n; i++) {
		const u64 to = live_read(live, i);

		KUNIT_EXPECT_TRUE_MSG(test, to > from[i], "event %u of %u: %llu, then %llu", i, n,
				      from[i], to);
	}
}

/* start, stop and read. */

static void stop_with_update_settles(struct kunit *test)
{
	struct live *live = test->priv;

	KEEPS(test, "DRC-051", "DRC-052", "DRV-037");
	if (!has_state(test))
		return;
	if (!added(test, live_how(live)))
		return;
	live_stop(live, ALONE, PERF_EF_UPDATE);
	expect_settled(test);
}

static void stopped_event_does_not_count(struct kunit *test)
{
	struct live *live = test->priv;
	u64 pace, from, to;

	KEEPS(test, "DRC-052", "DRC-060", "DRV-012");
	pace = begin(test);
	if (!pace)
		return;
	live_stop(live, ALONE, PERF_EF_UPDATE);
	from = live_count(live, ALONE);
	live_wait(live, pace);
	to = live_read(live, ALONE);
	KUNIT_EXPECT_TRUE_MSG(test, to == from, "a read adds to it: %llu, then %llu", from, to);
}

static void stop_without_update_claims_no_more_than_it_did(struct kunit *test)
{
	struct live *live = test->priv;
	u64 pace, stopped, folded, again;
	int flags;

	KEEPS(test, "DRC-051", "DRC-052", "DRV-009", "DRV-037");
	if (!has_state(test))
		return;
	pace = begin(test);
	if (!pace)
		return;
	live_wait(live, pace);
	live_stop(live, ALONE, 0);
	flags = live_flags(live, ALONE);
	stopped = live_count(live, ALONE);
	live_wait(live, pace);
	live_stop(live, ALONE, PERF_EF_UPDATE);
	folded = live_count(live, ALONE);
	live_wait(live, pace);
	live_stop(live, ALONE, PERF_EF_UPDATE);
	again = live_count(live, ALONE);
	KUNIT_EXPECT_TRUE_MSG(test, flags & PERF_HES_STOPPED, "its flags are %#x", flags);
	KUNIT_EXPECT_TRUE_MSG(test, !(flags & PERF_HES_UPTODATE) || folded == stopped,
			      "it said it was up to date at %llu, and was at %llu", stopped,
			      folded);
	KUNIT_EXPECT_TRUE_MSG(test, live_flags(live, ALONE) == LIVE_SETTLED,
			      "updated, its flags are %#x", live_flags(live, ALONE));
	KUNIT_EXPECT_TRUE_MSG(test, again == folded, "it is folded again: %llu, then %llu", folded,
			      again);
}

static void second_stop_changes_nothing(struct kunit *test)
{
	struct live *live = test->priv;
	u64 pace, from, to;
	int flags;

	KEEPS(test, "DRC-055", "DRV-009");
	pace = begin(test);
	if (!pace)
		return;
	live_stop(live, ALONE, PERF_EF_UPDATE);
	flags = live_flags(live, ALONE);
	from = live_count(live, ALONE);
	live_wait(live, pace);
	live_stop(live, ALONE, PERF_EF_UPDATE);
	live_stop(live, ALONE, 0);
	to = live_count(live, ALONE);
	KUNIT_EXPECT_TRUE_MSG(test, to == from, "%llu, then %llu", from, to);
	KUNIT_EXPECT_TRUE_MSG(test, live_flags(live, ALONE) == flags, "flags %#x, then %#x", flags,
			      live_flags(live, ALONE));
}

/* Started again by @flags, after a stop that suits them. */
static void expect_restart(struct kunit *test, u64 pace, int flags)
{
	struct live *live = test->priv;
	u64 from, to;

	live_stop(live, ALONE, PERF_EF_UPDATE);
	from = live_count(live, ALONE);
	live_wait(live, pace);
	live_start(live, ALONE, flags);
	KUNIT_EXPECT_TRUE_MSG(test, !live_flags(live, ALONE), "started by %#x, its flags are %#x",
			      flags, live_flags(live, ALONE));
	KUNIT_EXPECT_TRUE_MSG(test, live_moves(live), "started by %#x, it does not count", flags);
	to = live_count(live, ALONE);
	KUNIT_EXPECT_TRUE_MSG(test, to > from, "started by %#x, it goes back from %llu to %llu",
			      flags, from, to);
}

static void start_goes_on_after_a_stop(struct kunit *test)
{
	u64 pace;

	KEEPS(test, "DRC-053", "DRC-062", "DRV-010", "DRV-011", "DRV-037");
	pace = begin(test);
	if (!pace)
		return;
	expect_restart(test, pace, PERF_EF_RELOAD);
	expect_restart(test, pace, 0);
	expect_restart(test, pace, PERF_EF_RELOAD);
}

/* What passes between a stop and a start is not counted, though a counter may have seen it. */
static void time_between_stop_and_start_is_not_counted(struct kunit *test)
{
	struct live *live = test->priv;
	static const int flags[] = { PERF_EF_RELOAD, 0 };
	u64 pace, from, to;
	unsigned int i;

	KEEPS(test, "DRC-052", "DRC-053", "DRV-011");
	pace = begin(test);
	if (!pace)
		return;
	if (!live_holds(live, pace)) {
		kunit_mark_skipped(test, "events count while the PMU is off");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		live_stop(live, ALONE, PERF_EF_UPDATE);
		from = live_count(live, ALONE);
		live_wait(live, pace);
		/* No time passes where it could count. */
		live_off(live);
		live_call_start(live, ALONE, flags[i]);
		live_call_stop(live, ALONE, PERF_EF_UPDATE);
		live_on(live);
		to = live_count(live, ALONE);
		KUNIT_EXPECT_TRUE_MSG(test, to == from, "started by %#x: %llu, then %llu", flags[i],
				      from, to);
		live_start(live, ALONE, PERF_EF_RELOAD);
	}
}

static void start_without_an_area_leaves_it_stopped(struct kunit *test)
{
	struct live *live = test->priv;

	KEEPS(test, "DRC-064", "DRC-099");
	if (!live_is_whole(test))
		return;
	if (!live->pmu->setup_aux) {
		kunit_mark_skipped(test, "the PMU has no AUX area");
		return;
	}
	if (!added(test, 0))
		return;
	live_start(live, ALONE, PERF_EF_RELOAD);
	expect_settled(test);
}

static void reads_never_go_back(struct kunit *test)
{
	struct live *live = test->priv;
	u64 last;
	unsigned int i;

	KEEPS(test, "DRC-058", "DRC-061", "DRV-012");
	if (!begin(test))
		return;
	last = live_count(live, ALONE);
	for (i = 0; i < TURNS; i++) {
		const u64 now = live_read(live, ALONE);

		if (now < last || now - last > S64_MAX)
			break;
		last = now;
	}
	KUNIT_EXPECT_TRUE_MSG(test, i == TURNS, "read %u goes back from %llu to %llu", i, last,
			      live_count(live, ALONE));
	KUNIT_EXPECT_TRUE_MSG(test, !live_flags(live, ALONE), "a read changes its flags to %#x",
			      live_flags(live, ALONE));
}

/* The PMU as a whole. */

static void nothing_counts_while_the_pmu_is_off(struct kunit *test)
{
	struct live *live = test->priv;
	u64 pace, counts[4];
	int n = 0;

	KEEPS(test, "DRC-080", "DRV-003");
	pace = begin(test);
	if (!pace)
		return;
	if (live->pmu->task_ctx_nr != perf_hw_context && !live_holds(live, pace)) {
		kunit_mark_skipped(test, "nothing switches this PMU off as a whole");
		return;
	}
	live_lock(live);
	live_switch_off(live);
	counts[n++] = live_call_read(live, ALONE);
	live_switch_off(live);
	live_wait(live, pace);
	counts[n++] = live_call_read(live, ALONE);
	live_switch_on(live);
	live_wait(live, pace);
	counts[n++] = live_call_read(live, ALONE);
	live_switch_on(live);
	live_unlock(live);
	KUNIT_EXPECT_TRUE_MSG(test, counts[1] == counts[0], "off: %llu, then %llu", counts[0],
			      counts[1]);
	KUNIT_EXPECT_TRUE_MSG(test, counts[2] == counts[1],
			      "off twice, and on once: %llu, then %llu", counts[1], counts[2]);
	KUNIT_EXPECT_TRUE_MSG(test, live_moves(live), "it does not count any more");
}

/* Transactions. */

static void transaction_is_committed(struct kunit *test)
{
	struct live *live = test->priv;
	int err, added;

	KEEPS(test, "DRC-082", "DRV-016");
	if (!live_is_whole(test))
		return;
	live_txn_start(live);
	added = live_call_add(live, ALONE, live_how(live));
	err = added ?: live_txn_commit(live);
	if (err) {
		if (!added)
			live_call_del(live, ALONE);
		live_txn_cancel(live);
	}
	KUNIT_EXPECT_TRUE_MSG(test, !added, "add: %d", added);
	KUNIT_EXPECT_TRUE_MSG(test, !err, "commit_txn: %d", err);
	if (!err && !live->target->idle)
		KUNIT_EXPECT_TRUE_MSG(test, live_moves(live), "committed, it does not count");
}

static void cancelled_transaction_leaves_nothing(struct kunit *test)
{
	struct live *live = test->priv;
	unsigned int i;
	int err = 0;

	KEEPS(test, "DRC-049", "DRC-082", "DRV-006", "DRV-018");
	if (!live_is_whole(test))
		return;
	/* What each leaves adds up. */
	for (i = 0; i < TURNS && !err; i++) {
		live_txn_start(live);
		err = live_call_add(live, ALONE, live_how(live));
		if (!err)
			live_call_del(live, ALONE);
		live_txn_cancel(live);
	}
	KUNIT_EXPECT_TRUE_MSG(test, !err, "add in transaction %u: %d", i, err);
	err = live_add(live, ALONE, live_how(live));
	KUNIT_EXPECT_TRUE_MSG(test, !err, "add afterwards: %d", err);
	if (!err && !live->target->idle)
		KUNIT_EXPECT_TRUE_MSG(test, live_moves(live), "afterwards it does not count");
}

/* All that is open, in one transaction: whether it was committed; it is open until then. */
static bool add_all(struct live *live, unsigned int *n)
{
	live_txn_start(live);
	for (*n = 0; *n < live->n_events; ++*n) {
		if (live_call_add(live, *n, live_how(live)))
			return false;
	}
	return !live_txn_commit(live);
}

static void group_that_does_not_fit_is_undone(struct kunit *test)
{
	struct live *live = test->priv;
	unsigned int fit, n, again;
	bool whole;

	KEEPS(test, "DRC-082", "DRV-016", "DRV-017", "DRV-018");
	if (!fill(test, &fit))
		return;
	for (n = 0; n < fit; n++)
		live_del(live, n);
	/* One more than fits. */
	while (live->n_events > fit + 1)
		live_close(live);
	whole = add_all(live, &n);
	if (!whole) {
		while (n--)
			live_call_del(live, n);
		live_txn_cancel(live);
	}
	KUNIT_EXPECT_TRUE_MSG(test, !whole, "%u fit one by one, and %u together", fit, fit + 1);
	if (whole)
		return;
	/* As many fit as before, in one transaction too. */
	live_close(live);
	whole = add_all(live, &again);
	if (!whole) {
		for (n = again; n--;)
			live_call_del(live, n);
		live_txn_cancel(live);
	}
	KUNIT_EXPECT_TRUE_MSG(test, whole, "%u fit before, and now %u", fit, again);
}

static void reading_transaction_disturbs_nothing(struct kunit *test)
{
	struct live *live = test->priv;
	u64 from, to;
	int err;

	KEEPS(test, "DRC-083", "DRV-019");
	if (!begin(test))
		return;
	from = live_count(live, ALONE);
	live_lock(live);
	live->pmu->start_txn(live->pmu, PERF_PMU_TXN_READ);
	live_call_read(live, ALONE);
	err = live->pmu->commit_txn(live->pmu);
	live_unlock(live);
	to = live_count(live, ALONE);
	KUNIT_EXPECT_TRUE_MSG(test, !err, "commit_txn: %d", err);
	KUNIT_EXPECT_TRUE_MSG(test, to >= from, "%llu, then %llu", from, to);
	KUNIT_EXPECT_TRUE_MSG(test, !live_flags(live, ALONE), "its flags are %#x",
			      live_flags(live, ALONE));
	KUNIT_EXPECT_TRUE_MSG(test, live_moves(live), "it does not count any more");
}

/* By perf itself. */

static void counter_of_the_kernel_counts(struct kunit *test)
{
	struct live *live = test->priv;
	struct perf_event *event = live->events[ALONE];
	u64 enabled, running, count, now;

	KEEPS(test, "DRV-033");
	if (!begin(test))
		return;
	live_del(live, ALONE);
	perf_event_enable(event);
	count = perf_event_read_value(event, &enabled, &running);
	do {
		live_wait(live, 0);
		now = perf_event_read_value(event, &enabled, &running);
		/* Its times are those of a clock that may only go with the tick. */
	} while ((now == count || !running) && enabled < NSEC_PER_SEC);
	KUNIT_EXPECT_TRUE_MSG(test, now > count, "it does not count");
	KUNIT_EXPECT_TRUE_MSG(test, running && running <= enabled, "%llu ns of %llu", running,
			      enabled);
	perf_event_disable(event);
	count = live_count(live, ALONE);
	KUNIT_EXPECT_TRUE_MSG(test,
			      perf_event_read_value(event, &enabled, &running) == count,
			      "disabled, it goes on counting");
}

static struct kunit_case cases[] = {
	KUNIT_CASE(operations_are_complete),
	KUNIT_CASE(type_and_name_are_those_of_the_device),
	KUNIT_CASE(device_has_the_files_of_perf),
	KUNIT_CASE(formats_name_bits_of_a_field),
	KUNIT_CASE(open_event_holds_the_module),
	KUNIT_CASE(foreign_types_are_nobodys),
	KUNIT_CASE(odd_requests_are_taken_or_refused_whole),
	KUNIT_CASE(sampling_is_refused_without_interrupt),
	KUNIT_CASE(events_of_tasks_are_refused_machine_wide),
	KUNIT_CASE(exclusion_is_refused_where_there_is_none),
	KUNIT_CASE(destructor_runs_once),
	KUNIT_CASE(callbacks_leave_things_as_they_were),
	KUNIT_CASE(add_without_start_is_an_add_and_a_stop),
	KUNIT_CASE(added_event_is_stopped_until_it_is_started),
	KUNIT_CASE(add_with_start_counts),
	KUNIT_CASE(del_settles_a_running_event),
	KUNIT_CASE(del_of_a_stopped_event_adds_nothing),
	KUNIT_CASE(count_goes_on_at_the_next_add),
	KUNIT_CASE(del_gives_the_counter_back),
	KUNIT_CASE(failed_add_leaves_nothing),
	KUNIT_CASE(full_pmu_takes_new_events),
	KUNIT_CASE(group_is_judged_whole_however_busy_the_pmu_is),
	KUNIT_CASE(software_leader_needs_no_counter),
	KUNIT_CASE(events_that_are_on_share_no_counter),
	KUNIT_CASE(every_event_that_is_on_counts),
	KUNIT_CASE(stop_with_update_settles),
	KUNIT_CASE(stopped_event_does_not_count),
	KUNIT_CASE(stop_without_update_claims_no_more_than_it_did),
	KUNIT_CASE(second_stop_changes_nothing),
	KUNIT_CASE(start_goes_on_after_a_stop),
	KUNIT_CASE(time_between_stop_and_start_is_not_counted),
	KUNIT_CASE(start_without_an_area_leaves_it_stopped),
	KUNIT_CASE(reads_never_go_back),
	KUNIT_CASE(nothing_counts_while_the_pmu_is_off),
	KUNIT_CASE(transaction_is_committed),
	KUNIT_CASE(cancelled_transaction_leaves_nothing),
	KUNIT_CASE(group_that_does_not_fit_is_undone),
	KUNIT_CASE(reading_transaction_disturbs_nothing),
	KUNIT_CASE(counter_of_the_kernel_counts),
	{}
};
