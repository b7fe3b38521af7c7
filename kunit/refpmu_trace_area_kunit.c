// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of the AUX areas of refpmu_trace: their memory, the trace in them, and perf's records
 * about it.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "trace_rig.h"
#include "verifies.h"

#define RECORD TRACE_RIG_RECORD
#define IN_A_PAGE ((unsigned int)(PAGE_SIZE / RECORD)) /* records in a page; some bytes remain */

/* Set the tail: the reader has consumed everything up to @tail. */
static void consume(const struct trace_rig *rig, u64 tail)
{
	WRITE_ONCE(rig->rb->user_page->aux_tail, tail);
}

static void aux_area_maps_its_pages_contiguously(struct kunit *test)
{
	enum { PAGES = 4 };
	const struct trace_rig *rig = test->priv;
	const struct perf_event_attr attr = trace_rig_attr(rig);
	struct perf_event *event = trace_rig_new_event(test, &attr);
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
	const struct perf_event_attr attr = trace_rig_attr(rig);
	struct perf_event *event = trace_rig_new_event(test, &attr);
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
	trace_rig_open_mapped(test, 2, false);
	perf_event_enable(rig->event);
	trace_rig_generate(test, 3);
	perf_event_disable(rig->event);
	trace_rig_free_buffer(rig);
	KUNIT_EXPECT_EQ(test, local64_read(&calls[REFPMU_CALL_SETUP_AUX]) - setups, 1ULL);
	KUNIT_EXPECT_EQ(test, local64_read(&calls[REFPMU_CALL_FREE_AUX]) - frees, 1ULL);
}

static void aux_area_has_every_branch(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	struct trace_rig_summary got;

	trace_rig_open_mapped(test, 2, false);
	trace_rig_generate(test, 5);
	perf_event_enable(rig->event);
	trace_rig_generate(test, 10);
	perf_event_disable(rig->event);
	trace_rig_generate(test, 5);

	got = trace_rig_summary(rig);
	KUNIT_EXPECT_EQ(test, trace_rig_head(rig), 10ULL * RECORD);
	trace_rig_expect_branches(test, 0, 10, 5);
	KUNIT_EXPECT_EQ(test, trace_rig_record_at(rig, 10 * RECORD)->from, 0ULL);
	KUNIT_EXPECT_EQ(test, got.records, 1U);
	KUNIT_EXPECT_EQ(test, got.bytes, 10ULL * RECORD);
	KUNIT_EXPECT_EQ(test, got.last_flags, 0ULL);
}

static void start_of_a_trace_is_recorded_once(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	unsigned int i;

	trace_rig_open_mapped(test, 1, false);
	for (i = 0; i < 3; i++) {
		perf_event_enable(rig->event);
		trace_rig_generate(test, 1);
		perf_event_disable(rig->event);
	}
	KUNIT_EXPECT_EQ(test, trace_rig_summary(rig).starts, 1U);
	KUNIT_EXPECT_EQ(test, trace_rig_head(rig), 3ULL * RECORD);
}

static void record_never_wraps(struct kunit *test)
{
	struct trace_rig *rig = test->priv;

	trace_rig_open_mapped(test, 1, false);
	perf_event_enable(rig->event);
	trace_rig_generate(test, 100);
	perf_event_disable(rig->event);
	trace_rig_expect_branches(test, 0, 100, 0);
	consume(rig, trace_rig_head(rig));
	perf_event_enable(rig->event);
	trace_rig_generate(test, 100);
	perf_event_disable(rig->event);

	/* The remaining bytes of the page are padding, which counts as written. */
	KUNIT_EXPECT_EQ(test, trace_rig_head(rig), PAGE_SIZE + (200ULL - IN_A_PAGE) * RECORD);
	trace_rig_expect_branches(test, 100 * RECORD, IN_A_PAGE - 100, 100);
	trace_rig_expect_branches(test, 0, 200 - IN_A_PAGE, IN_A_PAGE);
	KUNIT_EXPECT_EQ(test, trace_rig_summary(rig).truncated, 0U);
	KUNIT_EXPECT_EQ(test, trace_rig_summary(rig).bytes, 200ULL * RECORD);
}

static void full_aux_area_truncates_the_trace_and_disables_the_event(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	struct trace_rig_summary got;

	VERIFIES(test, "DRC-099");
	trace_rig_open_mapped(test, 1, false);
	perf_event_enable(rig->event);
	trace_rig_generate(test, IN_A_PAGE);
	KUNIT_EXPECT_TRUE(test, trace_rig_wait_disabled(rig->event));
	trace_rig_generate(test, 30);
	got = trace_rig_summary(rig);
	KUNIT_EXPECT_EQ(test, trace_rig_head(rig), (u64)IN_A_PAGE * RECORD);
	KUNIT_EXPECT_EQ(test, got.bytes, (u64)IN_A_PAGE * RECORD);
	KUNIT_EXPECT_EQ(test, got.truncated, 1U);
	KUNIT_EXPECT_EQ(test, got.last_flags, (u64)PERF_AUX_FLAG_TRUNCATED);
	KUNIT_EXPECT_EQ(test, trace_rig_reg(rig, REFPMU_REG_DEBUGCTL), 0ULL);
	trace_rig_expect_branches(test, 0, IN_A_PAGE, 0);

	/* The reader consumes the data, and the trace continues. */
	consume(rig, trace_rig_head(rig));
	perf_event_enable(rig->event);
	trace_rig_generate(test, 5);
	perf_event_disable(rig->event);
	KUNIT_EXPECT_EQ(test, trace_rig_head(rig), PAGE_SIZE + 5ULL * RECORD);
	trace_rig_expect_branches(test, 0, 5, IN_A_PAGE + 30);
	KUNIT_EXPECT_EQ(test, trace_rig_summary(rig).truncated, 1U);
}

static void unread_data_is_not_overwritten(struct kunit *test)
{
	struct trace_rig *rig = test->priv;

	trace_rig_open_mapped(test, 1, false);
	perf_event_enable(rig->event);
	trace_rig_generate(test, 100);
	perf_event_disable(rig->event);
	/*
	 * The reader consumes ten records. After the end of the page there is room for ten, less a
	 * byte.
	 */
	consume(rig, 10 * RECORD);
	perf_event_enable(rig->event);
	trace_rig_generate(test, 100);
	KUNIT_EXPECT_TRUE(test, trace_rig_wait_disabled(rig->event));
	KUNIT_EXPECT_EQ(test, trace_rig_head(rig), PAGE_SIZE + 9ULL * RECORD);
	trace_rig_expect_branches(test, 0, 9, IN_A_PAGE);
	trace_rig_expect_branches(test, 10 * RECORD, IN_A_PAGE - 10, 10);
}

static void snapshot_wraps_without_interrupts(struct kunit *test)
{
	struct trace_rig *rig = test->priv;
	const u64 pmi = local64_read(&rig->t->journal.pmi);
	const unsigned int behind = 200 - IN_A_PAGE;

	trace_rig_open_mapped(test, 1, true);
	perf_event_enable(rig->event);
	KUNIT_EXPECT_EQ(test, trace_rig_reg(rig, REFPMU_REG_DEBUGCTL), TRACE_RIG_RECORDING);
	trace_rig_generate(test, 200);
	perf_event_disable(rig->event);
	KUNIT_EXPECT_EQ(test, trace_rig_head(rig), (u64)behind * RECORD);
	trace_rig_expect_branches(test, 0, behind, IN_A_PAGE);
	trace_rig_expect_branches(test, behind * RECORD, IN_A_PAGE - behind, behind);
	KUNIT_EXPECT_EQ(test, trace_rig_summary(rig).last_flags, (u64)PERF_AUX_FLAG_OVERWRITE);

	/* The trace continues at its previous position. */
	perf_event_enable(rig->event);
	trace_rig_generate(test, 1);
	perf_event_disable(rig->event);
	KUNIT_EXPECT_EQ(test, trace_rig_head(rig), (behind + 1ULL) * RECORD);
	trace_rig_expect_branches(test, behind * RECORD, 1, 200);
	KUNIT_EXPECT_EQ(test, local64_read(&rig->t->journal.pmi) - pmi, 0ULL);
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
	struct perf_event_attr attr = trace_rig_attr(rig);
	unsigned int at = 0;

	attr.exclude_user = ring->no_user;
	attr.exclude_kernel = ring->no_kernel;
	trace_rig_open(test, &attr);
	trace_rig_map(test, 1, false);
	perf_event_enable(rig->event);
	trace_rig_generate_one(rig, REFPMU_USER);
	trace_rig_generate_one(rig, REFPMU_KERNEL);
	perf_event_disable(rig->event);

	if (!ring->no_user)
		trace_rig_expect_branches(test, RECORD * at++, 1, 0);
	if (!ring->no_kernel)
		trace_rig_expect_branches(test, RECORD * at++, 1, 1);
	KUNIT_EXPECT_EQ(test, trace_rig_head(rig), (u64)at * RECORD);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(aux_area_maps_its_pages_contiguously),
	KUNIT_CASE(aux_area_larger_than_memory_is_rejected),
	KUNIT_CASE(aux_area_is_set_up_and_freed_once),
	KUNIT_CASE(aux_area_has_every_branch),
	KUNIT_CASE(start_of_a_trace_is_recorded_once),
	KUNIT_CASE(record_never_wraps),
	KUNIT_CASE(full_aux_area_truncates_the_trace_and_disables_the_event),
	KUNIT_CASE(unread_data_is_not_overwritten),
	KUNIT_CASE(snapshot_wraps_without_interrupts),
	KUNIT_CASE_PARAM(excluded_privileges_are_not_recorded, ring_gen_params),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_trace_area",
	.init = trace_rig_init,
	.exit = trace_rig_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
