// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of refpmu_trace: AUX areas, writing the trace to them, and perf's records about it.
 */
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "trace/trace.h"
/* of kernel/events: functions for ring buffers, which otherwise only mmap() creates */
#include "internal.h"
#include "verifies.h"

#define FOREIGN_TYPE 0x7fff0000
#define EVENT_CPU 0 /* CPU of the events */
#define CODE 0xffffffff81000000ULL
#define RECORD ((unsigned int)sizeof(struct refpmu_bts_record))
#define IN_A_PAGE ((unsigned int)(PAGE_SIZE / RECORD)) /* records in a page; some bytes remain */
#define RECORDING (REFPMU_DEBUGCTL_TR | REFPMU_DEBUGCTL_BTS)

struct trace_rig {
	struct pmu *pmu;
	struct refpmu_trace_cpu *t;
	struct perf_event *event;
	struct perf_buffer *rb; /* buffer of the event */
	u64 generated; /* number of branches so far */
};

static u64 total_inits(void)
{
	return atomic64_read(&refpmu_trace_totals.inits);
}

static u64 total_destroys(void)
{
	return atomic64_read(&refpmu_trace_totals.destroys);
}

static u64 total_live(void)
{
	return atomic64_read(&refpmu_trace_totals.live);
}

static struct perf_event_attr attr_of(u32 type)
{
	return (struct perf_event_attr){
		.type = type,
		.size = sizeof(struct perf_event_attr),
		.disabled = 1,
	};
}

/* Find the registered PMU by its name, because the driver does not export it. */
static struct pmu *find_pmu(void)
{
	u32 type;

	for (type = PERF_TYPE_MAX; type < PERF_TYPE_MAX + 64; type++) {
		struct perf_event_attr attr = attr_of(type);
		struct perf_event *event;
		struct pmu *pmu;

		event = perf_event_create_kernel_counter(&attr, EVENT_CPU, NULL, NULL, NULL);
		if (IS_ERR(event))
			continue;
		pmu = event->pmu;
		perf_event_release_kernel(event);
		if (!strcmp(pmu->name, "refpmu_trace"))
			return pmu;
	}
	return NULL;
}

static int trace_rig_init(struct kunit *test)
{
	struct trace_rig *rig = kunit_kzalloc(test, sizeof(*rig), GFP_KERNEL);

	if (!rig)
		return -ENOMEM;
	test->priv = rig;
	rig->t = per_cpu_ptr(refpmu_trace_cpus, EVENT_CPU);
	rig->pmu = find_pmu();
	if (!rig->pmu)
		return -ENODEV;
	/* Each case runs in its own thread, so the affinity ends with the case. */
	return set_cpus_allowed_ptr(current, cpumask_of(EVENT_CPU));
}

/* Free the buffer, as perf does for the last munmap(). */
static void free_buffer(struct trace_rig *rig)
{
	if (!rig->rb)
		return;
	WRITE_ONCE(rig->event->rb, NULL);
	synchronize_rcu();
	rb_free_aux(rig->rb);
	ring_buffer_put(rig->rb);
	rig->rb = NULL;
}

static void del_event(void *data)
{
	struct trace_rig *rig = data;

	if (rig->t->event)
		rig->pmu->del(rig->t->event, 0);
}

static void trace_rig_exit(struct kunit *test)
{
	struct trace_rig *rig = test->priv;

	if (!rig || !rig->event)
		return;
	perf_event_disable(rig->event);
	/* A case that failed early may have added the event itself. */
	smp_call_function_single(EVENT_CPU, del_event, rig, 1);
	free_buffer(rig);
	perf_event_release_kernel(rig->event);
	KUNIT_EXPECT_EQ(test, total_live(), 0ULL);
}

static void open_attr(struct kunit *test, struct perf_event_attr *attr)
{
	struct trace_rig *rig = test->priv;
	struct perf_event *event;

	event = perf_event_create_kernel_counter(attr, EVENT_CPU, NULL, NULL, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	rig->event = event;
}

/* Create the data page and the AUX area, as perf does for mmap(). */
static void map_area(struct kunit *test, unsigned int pages, bool snapshot)
{
	struct trace_rig *rig = test->priv;

	rig->rb = rb_alloc(1, 0, EVENT_CPU, RING_BUFFER_WRITABLE);
	KUNIT_ASSERT_NOT_NULL(test, rig->rb);
	KUNIT_ASSERT_EQ(test, rb_alloc_aux(rig->rb, rig->event, 2, pages, 0,
					   snapshot ? 0 : RING_BUFFER_WRITABLE), 0);
	atomic_set(&rig->rb->aux_mmap_count, 1);
	WRITE_ONCE(rig->event->rb, rig->rb);
}

static void open_mapped(struct kunit *test, unsigned int pages, bool snapshot)
{
	struct trace_rig *rig = test->priv;
	struct perf_event_attr attr = attr_of(rig->pmu->type);

	open_attr(test, &attr);
	map_area(test, pages, snapshot);
}

/* Create an event as perf passes it to event_init: it is its own leader, and on no list. */
static struct perf_event *new_event(struct kunit *test, const struct perf_event_attr *attr)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	struct trace_rig *rig = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, event);
	event->pmu = rig->pmu;
	event->attr = *attr;
	event->group_leader = event;
	INIT_LIST_HEAD(&event->sibling_list);
	event->cpu = EVENT_CPU;
	return event;
}

static u64 reg(const struct trace_rig *rig, u32 number)
{
	u64 value = ~0ULL;

	WARN_ON(refpmu_model_read(&rig->t->model, number, &value));
	return value;
}

static struct refpmu_branch branch_no(u64 i)
{
	return (struct refpmu_branch){ .from = CODE + 16 * i, .to = CODE + 16 * i + 8 };
}

/* Wait until perf has disabled @event, which it does in an interrupt. Interrupts on. */
static bool wait_disabled(const struct perf_event *event)
{
	const u64 deadline = ktime_get_ns() + NSEC_PER_SEC;

	while (READ_ONCE(event->state) != PERF_EVENT_STATE_OFF) {
		if (ktime_get_ns() > deadline)
			return false;
		cpu_relax();
	}
	return true;
}

/* Generate the next branch, with interrupts on or off. */
static void generate_one(struct trace_rig *rig, enum refpmu_privilege privilege)
{
	const struct refpmu_branch branch = branch_no(rig->generated++);
	const struct refpmu_origin origin = { .privilege = privilege };
	unsigned long irqs;

	local_irq_save(irqs);
	refpmu_model_branch(&rig->t->model, &branch, &origin, false);
	if (refpmu_trace_line(rig->t))
		refpmu_trace_raise(rig->t);
	local_irq_restore(irqs);
}

/* Generate the next @n branches and wait for the handler after each. Interrupts on. */
static void generate(struct kunit *test, unsigned int n)
{
	struct trace_rig *rig = test->priv;

	for (; n; n--) {
		const u64 deadline = ktime_get_ns() + NSEC_PER_SEC;

		generate_one(rig, REFPMU_KERNEL);
		while (irq_work_is_busy(&rig->t->pmi) && ktime_get_ns() < deadline)
			cpu_relax();
		KUNIT_ASSERT_FALSE(test, refpmu_trace_line(rig->t));
	}
}

/* Return the record at @offset of the area, from the pages that the reader sees. */
static const struct refpmu_bts_record *record_at(const struct trace_rig *rig, unsigned int offset)
{
	return rig->rb->aux_pages[offset / PAGE_SIZE] + offset % PAGE_SIZE;
}

/*
 * Expect @n records from @offset on to be those of the branches from @first on. No record crosses a
 * page.
 */
static void expect_branches(struct kunit *test, unsigned int offset, unsigned int n, u64 first)
{
	const struct trace_rig *rig = test->priv;
	unsigned int i;

	for (i = 0; i < n; i++) {
		const struct refpmu_bts_record *record = record_at(rig, offset + i * RECORD);
		const struct refpmu_branch branch = branch_no(first + i);

		KUNIT_EXPECT_EQ_MSG(test, record->from, branch.from, "record %u", i);
		KUNIT_EXPECT_EQ_MSG(test, record->to, branch.to, "record %u", i);
		KUNIT_EXPECT_EQ_MSG(test, record->flags, REFPMU_BTS_PREDICTED, "record %u", i);
	}
}

/* Summary of the records that perf wrote to the ring buffer. */
struct summary {
	unsigned int starts; /* PERF_RECORD_ITRACE_START */
	unsigned int records; /* PERF_RECORD_AUX */
	u64 bytes; /* number of bytes in them */
	unsigned int truncated;
	u64 last_flags;
};

struct aux_record {
	struct perf_event_header header;
	u64 offset;
	u64 size;
	u64 flags;
};

static struct summary summary(const struct trace_rig *rig)
{
	const u64 end = local_read(&rig->rb->head);
	const void *data = rig->rb->data_pages[0];
	struct summary summary = { .starts = 0 };
	u64 at = 0;

	while (at < end && end <= PAGE_SIZE) {
		const struct aux_record *record = data + at;

		if (record->header.type == PERF_RECORD_ITRACE_START)
			summary.starts++;
		if (record->header.type == PERF_RECORD_AUX) {
			summary.records++;
			summary.bytes += record->size;
			summary.truncated += !!(record->flags & PERF_AUX_FLAG_TRUNCATED);
			summary.last_flags = record->flags;
		}
		if (!record->header.size)
			break;
		at += record->header.size;
	}
	return summary;
}

static u64 head(const struct trace_rig *rig)
{
	return READ_ONCE(rig->rb->user_page->aux_head);
}

/* Set the tail: the reader has consumed everything up to @tail. */
static void consume(const struct trace_rig *rig, u64 tail)
{
	WRITE_ONCE(rig->rb->user_page->aux_tail, tail);
}

struct refusal {
	const char *name;
	int err;
	bool foreign;
	struct perf_event_attr attr;
};

static const struct refusal refusals[] = {
	{ "a foreign type, whatever else", -ENOENT, true, { .config = 1, .precise_ip = 1 } },
	{ "config", -EINVAL, false, { .config = 1 } },
	{ "config1", -EINVAL, false, { .config1 = BIT_ULL(63) } },
	{ "config2", -EINVAL, false, { .config2 = 1 } },
	{ "config before precise_ip", -EINVAL, false, { .config = 1, .precise_ip = 1 } },
	{ "precise_ip", -EOPNOTSUPP, false, { .precise_ip = 1 } },
	{ "branch records", -EOPNOTSUPP, false,
	  { .sample_type = PERF_SAMPLE_BRANCH_STACK,
	    .branch_sample_type = PERF_SAMPLE_BRANCH_ANY } },
	{ "the idle task excluded", -EOPNOTSUPP, false, { .exclude_idle = 1 } },
	{ "the host excluded", -EOPNOTSUPP, false, { .exclude_host = 1 } },
};

static void refusal_desc(const struct refusal *refusal, char *desc)
{
	strscpy(desc, refusal->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(refusal, refusals, refusal_desc);

static void rejected_event_has_its_errno_and_no_effect(struct kunit *test)
{
	const struct refusal *refusal = test->param_value;
	const struct trace_rig *rig = test->priv;
	struct perf_event_attr attr = refusal->attr;
	const u64 inits = total_inits();
	struct perf_event *event;

	VERIFIES(test, "DRC-035", "DRC-037");
	attr.type = refusal->foreign ? FOREIGN_TYPE : rig->pmu->type;
	event = new_event(test, &attr);
	KUNIT_EXPECT_EQ(test, rig->pmu->event_init(event), refusal->err);
	KUNIT_EXPECT_NULL(test, event->destroy);
	KUNIT_EXPECT_EQ(test, total_live(), 0ULL);
	KUNIT_EXPECT_EQ(test, total_inits() - inits, refusal->foreign ? 0ULL : 1ULL);
}

static void accepted_event_is_destroyed_once(struct kunit *test)
{
	const struct trace_rig *rig = test->priv;
	struct perf_event_attr attr = attr_of(rig->pmu->type);
	const u64 destroys = total_destroys();
	struct perf_event *event;

	VERIFIES(test, "DRC-038");
	/* Tools set a period in every event. The PMU ignores it. */
	attr.sample_period = 4000;
	event = new_event(test, &attr);
	KUNIT_ASSERT_EQ(test, rig->pmu->event_init(event), 0);
	KUNIT_EXPECT_EQ(test, total_live(), 1ULL);
	event->destroy(event);
	KUNIT_EXPECT_EQ(test, total_live(), 0ULL);
	KUNIT_EXPECT_EQ(test, total_destroys() - destroys, 1ULL);
}

static void aux_area_maps_its_pages_contiguously(struct kunit *test)
{
	enum { PAGES = 4 };
	const struct trace_rig *rig = test->priv;
	const struct perf_event_attr attr = attr_of(rig->pmu->type);
	struct perf_event *event = new_event(test, &attr);
	struct refpmu_trace_buffer *buffer;
	void *block, *pages[PAGES];
	unsigned int i;

	block = (void *)__get_free_pages(GFP_KERNEL, 3);
	KUNIT_ASSERT_NOT_NULL(test, block);
	/*
	 * Every second page, in reverse order: adjacent pages of the area are not adjacent in
	 * memory.
	 */
	for (i = 0; i < PAGES; i++) {
		pages[i] = block + 2 * (PAGES - 1 - i) * PAGE_SIZE;
		*(u64 *)(pages[i] + PAGE_SIZE - 8) = 0x1000 + i;
	}

	buffer = rig->pmu->setup_aux(event, pages, PAGES, true);
	if (buffer) {
		for (i = 0; i < PAGES; i++) {
			KUNIT_EXPECT_EQ(test, *(u64 *)(buffer->base + (i + 1) * PAGE_SIZE - 8),
					0x1000ULL + i);
			*(u64 *)(buffer->base + i * PAGE_SIZE) = 0x2000 + i;
			KUNIT_EXPECT_EQ(test, *(u64 *)pages[i], 0x2000ULL + i);
		}
		KUNIT_EXPECT_EQ(test, buffer->size, (u64)PAGES * PAGE_SIZE);
		KUNIT_EXPECT_TRUE(test, buffer->snapshot);
		rig->pmu->free_aux(buffer);
	}
	free_pages((unsigned long)block, 3);
	KUNIT_EXPECT_NOT_NULL(test, buffer);
}

static void aux_area_larger_than_memory_is_rejected(struct kunit *test)
{
	const struct trace_rig *rig = test->priv;
	const struct perf_event_attr attr = attr_of(rig->pmu->type);
	struct perf_event *event = new_event(test, &attr);
	const unsigned long n = totalram_pages() + 1;
	void *page = (void *)get_zeroed_page(GFP_KERNEL);
	void **pages = kvmalloc_array(n, sizeof(*pages), GFP_KERNEL);
	unsigned long i;
	void *area = NULL;

	VERIFIES(test, "DRC-098");
	if (page && pages) {
		for (i = 0; i < n; i++)
			pages[i] = page;
		area = rig->pmu->setup_aux(event, pages, n, false);
	}
	/* perf treats only NULL as a failure. */
	KUNIT_EXPECT_NULL(test, area);
	if (area)
		rig->pmu->free_aux(area);
	KUNIT_EXPECT_NOT_NULL(test, page);
	KUNIT_EXPECT_NOT_NULL(test, pages);
	kvfree(pages);
	free_page((unsigned long)page);
}

static void aux_area_is_set_up_and_freed_once(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	const local64_t *calls = rig->t->journal.calls;
	const u64 setups = local64_read(&calls[REFPMU_CALL_SETUP_AUX]);
	const u64 frees = local64_read(&calls[REFPMU_CALL_FREE_AUX]);

	VERIFIES(test, "AUX-006", "DRC-098");
	open_mapped(test, 2, false);
	perf_event_enable(rig->event);
	generate(test, 3);
	perf_event_disable(rig->event);
	free_buffer(rig);
	KUNIT_EXPECT_EQ(test, local64_read(&calls[REFPMU_CALL_SETUP_AUX]) - setups, 1ULL);
	KUNIT_EXPECT_EQ(test, local64_read(&calls[REFPMU_CALL_FREE_AUX]) - frees, 1ULL);
}

static void event_without_aux_area_is_disabled(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	struct perf_event_attr attr = attr_of(rig->pmu->type);

	VERIFIES(test, "AUX-013", "DRC-099");
	open_attr(test, &attr);
	perf_event_enable(rig->event);
	KUNIT_EXPECT_TRUE(test, wait_disabled(rig->event));
	KUNIT_EXPECT_EQ(test, reg(rig, REFPMU_REG_DEBUGCTL), 0ULL);
	KUNIT_EXPECT_NULL(test, rig->t->buffer);
}

static void failed_start_leaves_the_event_stopped(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	struct perf_event_attr attr = attr_of(rig->pmu->type);
	int added, restarted;
	u64 control;

	VERIFIES(test, "DRC-064", "AUX-013");
	open_attr(test, &attr);
	local_irq_disable();
	rig->pmu->add(rig->event, PERF_EF_START);
	added = rig->event->hw.state;
	rig->pmu->start(rig->event, 0);
	restarted = rig->event->hw.state;
	control = reg(rig, REFPMU_REG_DEBUGCTL);
	rig->pmu->del(rig->event, 0);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, added, PERF_HES_STOPPED | PERF_HES_UPTODATE);
	KUNIT_EXPECT_EQ(test, restarted, PERF_HES_STOPPED | PERF_HES_UPTODATE);
	KUNIT_EXPECT_EQ(test, control, 0ULL);
}

static void aux_area_has_every_branch(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	struct summary got;

	open_mapped(test, 2, false);
	generate(test, 5);
	perf_event_enable(rig->event);
	generate(test, 10);
	perf_event_disable(rig->event);
	generate(test, 5);

	got = summary(rig);
	KUNIT_EXPECT_EQ(test, head(rig), 10ULL * RECORD);
	expect_branches(test, 0, 10, 5);
	KUNIT_EXPECT_EQ(test, record_at(rig, 10 * RECORD)->from, 0ULL);
	KUNIT_EXPECT_EQ(test, got.records, 1U);
	KUNIT_EXPECT_EQ(test, got.bytes, 10ULL * RECORD);
	KUNIT_EXPECT_EQ(test, got.last_flags, 0ULL);
}

static void start_of_a_trace_is_recorded_once(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	unsigned int i;

	open_mapped(test, 1, false);
	for (i = 0; i < 3; i++) {
		perf_event_enable(rig->event);
		generate(test, 1);
		perf_event_disable(rig->event);
	}
	KUNIT_EXPECT_EQ(test, summary(rig).starts, 1U);
	KUNIT_EXPECT_EQ(test, head(rig), 3ULL * RECORD);
}

static void record_never_wraps(struct kunit *test)
{
	struct trace_rig *rig = test->priv;

	open_mapped(test, 1, false);
	perf_event_enable(rig->event);
	generate(test, 100);
	perf_event_disable(rig->event);
	expect_branches(test, 0, 100, 0);
	consume(rig, head(rig));
	perf_event_enable(rig->event);
	generate(test, 100);
	perf_event_disable(rig->event);

	/* The remaining bytes of the page are padding, which counts as written. */
	KUNIT_EXPECT_EQ(test, head(rig), PAGE_SIZE + (200ULL - IN_A_PAGE) * RECORD);
	expect_branches(test, 100 * RECORD, IN_A_PAGE - 100, 100);
	expect_branches(test, 0, 200 - IN_A_PAGE, IN_A_PAGE);
	KUNIT_EXPECT_EQ(test, summary(rig).truncated, 0U);
	KUNIT_EXPECT_EQ(test, summary(rig).bytes, 200ULL * RECORD);
}

static void full_aux_area_truncates_the_trace_and_disables_the_event(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	struct summary got;

	VERIFIES(test, "DRC-099");
	open_mapped(test, 1, false);
	perf_event_enable(rig->event);
	generate(test, IN_A_PAGE);
	KUNIT_EXPECT_TRUE(test, wait_disabled(rig->event));
	generate(test, 30);
	got = summary(rig);
	KUNIT_EXPECT_EQ(test, head(rig), (u64)IN_A_PAGE * RECORD);
	KUNIT_EXPECT_EQ(test, got.bytes, (u64)IN_A_PAGE * RECORD);
	KUNIT_EXPECT_EQ(test, got.truncated, 1U);
	KUNIT_EXPECT_EQ(test, got.last_flags, (u64)PERF_AUX_FLAG_TRUNCATED);
	KUNIT_EXPECT_EQ(test, reg(rig, REFPMU_REG_DEBUGCTL), 0ULL);
	expect_branches(test, 0, IN_A_PAGE, 0);

	/* The reader consumes the data, and the trace continues. */
	consume(rig, head(rig));
	perf_event_enable(rig->event);
	generate(test, 5);
	perf_event_disable(rig->event);
	KUNIT_EXPECT_EQ(test, head(rig), PAGE_SIZE + 5ULL * RECORD);
	expect_branches(test, 0, 5, IN_A_PAGE + 30);
	KUNIT_EXPECT_EQ(test, summary(rig).truncated, 1U);
}

static void unread_data_is_not_overwritten(struct kunit *test)
{
	struct trace_rig *rig = test->priv;

	open_mapped(test, 1, false);
	perf_event_enable(rig->event);
	generate(test, 100);
	perf_event_disable(rig->event);
	/*
	 * The reader consumes ten records. After the end of the page there is room for ten, less a
	 * byte.
	 */
	consume(rig, 10 * RECORD);
	perf_event_enable(rig->event);
	generate(test, 100);
	KUNIT_EXPECT_TRUE(test, wait_disabled(rig->event));
	KUNIT_EXPECT_EQ(test, head(rig), PAGE_SIZE + 9ULL * RECORD);
	expect_branches(test, 0, 9, IN_A_PAGE);
	expect_branches(test, 10 * RECORD, IN_A_PAGE - 10, 10);
}

static void snapshot_wraps_without_interrupts(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	const u64 pmi = local64_read(&rig->t->journal.pmi);
	const unsigned int behind = 200 - IN_A_PAGE;

	open_mapped(test, 1, true);
	perf_event_enable(rig->event);
	KUNIT_EXPECT_EQ(test, reg(rig, REFPMU_REG_DEBUGCTL), RECORDING);
	generate(test, 200);
	perf_event_disable(rig->event);
	KUNIT_EXPECT_EQ(test, head(rig), (u64)behind * RECORD);
	expect_branches(test, 0, behind, IN_A_PAGE);
	expect_branches(test, behind * RECORD, IN_A_PAGE - behind, behind);
	KUNIT_EXPECT_EQ(test, summary(rig).last_flags, (u64)PERF_AUX_FLAG_OVERWRITE);

	/* The trace continues at its previous position. */
	perf_event_enable(rig->event);
	generate(test, 1);
	perf_event_disable(rig->event);
	KUNIT_EXPECT_EQ(test, head(rig), (behind + 1ULL) * RECORD);
	expect_branches(test, behind * RECORD, 1, 200);
	KUNIT_EXPECT_EQ(test, local64_read(&rig->t->journal.pmi) - pmi, 0ULL);
}

/* Calls the callbacks directly, also in orders that perf does not use. */
static void stop_ends_the_transaction(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	u64 on, off, after;
	bool open, closed;
	int err, state;

	VERIFIES(test, "DRC-062", "DRC-100");
	open_mapped(test, 1, false);
	local_irq_disable();
	err = rig->pmu->add(rig->event, PERF_EF_START);
	on = reg(rig, REFPMU_REG_DEBUGCTL);
	open = rig->t->buffer && rig->rb->aux_nest;
	generate_one(rig, REFPMU_KERNEL);
	rig->pmu->stop(rig->event, PERF_EF_UPDATE);
	rig->pmu->stop(rig->event, PERF_EF_UPDATE);
	off = reg(rig, REFPMU_REG_DEBUGCTL);
	closed = !rig->t->buffer && !rig->rb->aux_nest;
	state = rig->event->hw.state;
	generate_one(rig, REFPMU_KERNEL);
	rig->pmu->start(rig->event, 0);
	generate_one(rig, REFPMU_KERNEL);
	rig->pmu->del(rig->event, 0);
	after = reg(rig, REFPMU_REG_DEBUGCTL);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, on, RECORDING | REFPMU_DEBUGCTL_BTINT);
	KUNIT_EXPECT_TRUE(test, open);
	KUNIT_EXPECT_EQ(test, off, 0ULL);
	KUNIT_EXPECT_TRUE(test, closed);
	KUNIT_EXPECT_EQ(test, state, PERF_HES_STOPPED | PERF_HES_UPTODATE);
	KUNIT_EXPECT_EQ(test, after, 0ULL);
	KUNIT_EXPECT_NULL(test, rig->t->event);
	KUNIT_EXPECT_EQ(test, head(rig), 2ULL * RECORD);
	expect_branches(test, 0, 1, 0);
	expect_branches(test, RECORD, 1, 2);
	KUNIT_EXPECT_EQ(test, summary(rig).records, 2U);
}

static void add_without_start_records_nothing(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	int err;
	u64 control;

	open_mapped(test, 1, false);
	local_irq_disable();
	err = rig->pmu->add(rig->event, 0);
	control = reg(rig, REFPMU_REG_DEBUGCTL);
	generate_one(rig, REFPMU_KERNEL);
	rig->pmu->del(rig->event, 0);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, control, 0ULL);
	KUNIT_EXPECT_EQ(test, head(rig), 0ULL);
	KUNIT_EXPECT_EQ(test, summary(rig).records, 0U);
}

static void second_event_cannot_be_added(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	const struct perf_event_attr attr = attr_of(rig->pmu->type);
	struct perf_event *second = new_event(test, &attr);
	int first, err;

	VERIFIES(test, "DRC-094");
	open_mapped(test, 1, false);
	local_irq_disable();
	first = rig->pmu->add(rig->event, PERF_EF_START);
	err = rig->pmu->add(second, PERF_EF_START);
	generate_one(rig, REFPMU_KERNEL);
	rig->pmu->del(rig->event, 0);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, first, 0);
	KUNIT_EXPECT_EQ(test, err, -EBUSY);
	KUNIT_EXPECT_EQ(test, head(rig), (u64)RECORD);
	KUNIT_EXPECT_TRUE(test, rig->pmu->capabilities & PERF_PMU_CAP_EXCLUSIVE);
}

struct ring {
	const char *name;
	bool no_user;
	bool no_kernel;
};

static const struct ring rings[] = {
	{ "both", false, false },
	{ "the kernel", true, false },
	{ "user space", false, true },
	{ "neither", true, true },
};

static void ring_desc(const struct ring *ring, char *desc)
{
	strscpy(desc, ring->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(ring, rings, ring_desc);

static void excluded_privileges_are_not_recorded(struct kunit *test)
{
	const struct ring *ring = test->param_value;
	struct trace_rig *rig = test->priv;
	struct perf_event_attr attr = attr_of(rig->pmu->type);
	unsigned int at = 0;

	attr.exclude_user = ring->no_user;
	attr.exclude_kernel = ring->no_kernel;
	open_attr(test, &attr);
	map_area(test, 1, false);
	perf_event_enable(rig->event);
	generate_one(rig, REFPMU_USER);
	generate_one(rig, REFPMU_KERNEL);
	perf_event_disable(rig->event);

	if (!ring->no_user)
		expect_branches(test, RECORD * at++, 1, 0);
	if (!ring->no_kernel)
		expect_branches(test, RECORD * at++, 1, 1);
	KUNIT_EXPECT_EQ(test, head(rig), (u64)at * RECORD);
}

static void device_accesses_only_its_own_memory(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	void *base, *in, *last, *before, *behind, *astride, *area, *around, *closed;

	open_mapped(test, 1, false);
	local_irq_disable();
	rig->pmu->add(rig->event, PERF_EF_START);
	base = rig->t->buffer->base;
	in = refpmu_trace_memory(rig->t, (uintptr_t)base, PAGE_SIZE);
	last = refpmu_trace_memory(rig->t, (uintptr_t)base + PAGE_SIZE - 8, 8);
	before = refpmu_trace_memory(rig->t, (uintptr_t)base - 8, 8);
	behind = refpmu_trace_memory(rig->t, (uintptr_t)base + PAGE_SIZE, 8);
	astride = refpmu_trace_memory(rig->t, (uintptr_t)base + PAGE_SIZE - 8, 16);
	area = refpmu_trace_memory(rig->t, (uintptr_t)&rig->t->ds, sizeof(rig->t->ds));
	around = refpmu_trace_memory(rig->t, (uintptr_t)&rig->t->ds, ~0ULL);
	rig->pmu->del(rig->event, 0);
	closed = refpmu_trace_memory(rig->t, (uintptr_t)base, 8);
	local_irq_enable();

	KUNIT_EXPECT_PTR_EQ(test, in, base);
	KUNIT_EXPECT_PTR_EQ(test, last, base + PAGE_SIZE - 8);
	KUNIT_EXPECT_NULL(test, before);
	KUNIT_EXPECT_NULL(test, behind);
	KUNIT_EXPECT_NULL(test, astride);
	KUNIT_EXPECT_PTR_EQ(test, area, (void *)&rig->t->ds);
	KUNIT_EXPECT_NULL(test, around);
	KUNIT_EXPECT_NULL(test, closed);
}

#ifdef PERF_PMU_CAP_AUX_PAUSE
static void paused_trace_resumes_in_its_transaction(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	u64 paused, resumed;
	bool open;

	VERIFIES(test, "DRC-063", "DRV-027");
	open_mapped(test, 1, false);
	local_irq_disable();
	rig->pmu->add(rig->event, PERF_EF_START);
	generate_one(rig, REFPMU_KERNEL);
	rig->event->hw.aux_paused = 1;
	rig->pmu->stop(rig->event, PERF_EF_PAUSE);
	paused = reg(rig, REFPMU_REG_DEBUGCTL);
	open = rig->t->buffer;
	generate_one(rig, REFPMU_KERNEL);
	rig->event->hw.aux_paused = 0;
	rig->pmu->start(rig->event, PERF_EF_RESUME);
	resumed = reg(rig, REFPMU_REG_DEBUGCTL);
	generate_one(rig, REFPMU_KERNEL);
	rig->pmu->del(rig->event, 0);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, paused, 0ULL);
	KUNIT_EXPECT_TRUE(test, open);
	KUNIT_EXPECT_EQ(test, resumed, RECORDING | REFPMU_DEBUGCTL_BTINT);
	KUNIT_EXPECT_EQ(test, head(rig), 2ULL * RECORD);
	expect_branches(test, 0, 1, 0);
	expect_branches(test, RECORD, 1, 2);
	KUNIT_EXPECT_EQ(test, summary(rig).records, 1U);
}

/* Another event may pause and resume the trace at any time, also between a stop and a start. */
static void resume_does_not_start_a_stopped_event(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	u64 resumed, paused;
	int state;

	VERIFIES(test, "DRC-063", "DRV-027");
	open_mapped(test, 1, false);
	local_irq_disable();
	rig->pmu->add(rig->event, PERF_EF_START);
	rig->pmu->stop(rig->event, PERF_EF_UPDATE);
	rig->event->hw.aux_paused = 0;
	rig->pmu->start(rig->event, PERF_EF_RESUME);
	resumed = reg(rig, REFPMU_REG_DEBUGCTL);
	state = rig->event->hw.state;
	/* A start does not start a paused event. */
	rig->event->hw.aux_paused = 1;
	rig->pmu->stop(rig->event, PERF_EF_PAUSE);
	rig->pmu->start(rig->event, 0);
	paused = reg(rig, REFPMU_REG_DEBUGCTL);
	generate_one(rig, REFPMU_KERNEL);
	rig->pmu->del(rig->event, 0);
	local_irq_enable();

	KUNIT_EXPECT_EQ(test, resumed, 0ULL);
	KUNIT_EXPECT_EQ(test, state, PERF_HES_STOPPED | PERF_HES_UPTODATE);
	KUNIT_EXPECT_EQ(test, paused, 0ULL);
	KUNIT_EXPECT_EQ(test, head(rig), 0ULL);
}
#else
static void paused_trace_resumes_in_its_transaction(struct kunit *test)
{
	kunit_skip(test, "this kernel pauses no trace");
}

static void resume_does_not_start_a_stopped_event(struct kunit *test)
{
	kunit_skip(test, "this kernel pauses no trace");
}
#endif

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(rejected_event_has_its_errno_and_no_effect, refusal_gen_params),
	KUNIT_CASE(accepted_event_is_destroyed_once),
	KUNIT_CASE(aux_area_maps_its_pages_contiguously),
	KUNIT_CASE(aux_area_larger_than_memory_is_rejected),
	KUNIT_CASE(aux_area_is_set_up_and_freed_once),
	KUNIT_CASE(event_without_aux_area_is_disabled),
	KUNIT_CASE(failed_start_leaves_the_event_stopped),
	KUNIT_CASE(aux_area_has_every_branch),
	KUNIT_CASE(start_of_a_trace_is_recorded_once),
	KUNIT_CASE(record_never_wraps),
	KUNIT_CASE(full_aux_area_truncates_the_trace_and_disables_the_event),
	KUNIT_CASE(unread_data_is_not_overwritten),
	KUNIT_CASE(snapshot_wraps_without_interrupts),
	KUNIT_CASE(stop_ends_the_transaction),
	KUNIT_CASE(add_without_start_records_nothing),
	KUNIT_CASE(second_event_cannot_be_added),
	KUNIT_CASE_PARAM(excluded_privileges_are_not_recorded, ring_gen_params),
	KUNIT_CASE(device_accesses_only_its_own_memory),
	KUNIT_CASE(paused_trace_resumes_in_its_transaction),
	KUNIT_CASE(resume_does_not_start_a_stopped_event),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_trace",
	.init = trace_rig_init,
	.exit = trace_rig_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
