// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of the mmap page: the fields that perf publishes, and when a driver must update it.
 */
#include "recorder.h"
#include "rig.h"
/* of kernel/events: functions for ring buffers, which otherwise only mmap() creates */
#include "internal.h"

/* Give @event a page. Its buffer exists until the end of the case. */
static struct perf_event_mmap_page *attach_page(struct kunit *test, struct perf_event *event)
{
	struct perf_buffer *rb = rb_alloc(1, 0, RECORDER_CPU, RING_BUFFER_WRITABLE);

	KUNIT_ASSERT_NOT_NULL(test, rb);
	WRITE_ONCE(event->rb, rb);
	return rb->user_page;
}

static void page_exit(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	unsigned int i;

	for (i = 0; recorder && i < recorder->n_events; i++) {
		struct perf_buffer *rb = recorder->events[i]->rb;

		if (!rb)
			continue;
		perf_event_disable(recorder->events[i]);
		WRITE_ONCE(recorder->events[i]->rb, NULL);
		synchronize_rcu();
		ring_buffer_put(rb);
	}
	recorder_exit(test);
}

#define COUNTER 5

static int index_plus_one(struct perf_event *event)
{
	return COUNTER + 1;
}

static void publish(struct perf_event *event)
{
	local_irq_disable();
	perf_event_update_userpage(event);
	local_irq_enable();
}

static void page_has_an_index_while_the_event_counts(struct kunit *test)
{
	struct recorder *recorder = test->priv;
	struct perf_event_mmap_page *page;
	struct perf_event_attr attr;
	struct perf_event *event;

	VERIFIES(test, "DRC-086", "RDP-003");
	recorder->pmu.event_idx = index_plus_one;
	recorder_register(test);
	attr = recorder_attr(recorder);
	event = recorder_open(test, &attr);
	page = attach_page(test, event);
	local64_set(&event->count, 1000);
	local64_set(&event->hw.prev_count, 300);
	publish(event);
	KUNIT_EXPECT_EQ(test, page->index, 0U);
	KUNIT_EXPECT_EQ(test, page->offset, 1000LL);
	perf_event_enable(event);
	publish(event);
	KUNIT_EXPECT_EQ(test, page->index, COUNTER + 1U);
	KUNIT_EXPECT_EQ(test, page->offset, 700LL);
	/* Active but stopped, like a throttled event. */
	event->hw.state = PERF_HES_STOPPED;
	publish(event);
	KUNIT_EXPECT_EQ(test, page->index, 0U);
	KUNIT_EXPECT_EQ(test, page->offset, 1000LL);
}

/*
 * Return how often the page was written. perf increments its lock at the start and end of a write.
 */
static unsigned int count_writes(const struct perf_event_mmap_page *page)
{
	return READ_ONCE(page->lock) / 2;
}

static void every_state_change_updates_the_page(struct kunit *test)
{
	struct perf_event_attr attr = rig_attr(RIG_PULSED);
	const struct perf_event_mmap_page *page;
	unsigned int n[5], whole = 1, i;
	struct perf_event *event;

	VERIFIES(test, "DRC-085", "DRC-087", "DRV-028", "RDP-003");
	attr.sample_period = 100;
	event = recorder_open(test, &attr);
	page = attach_page(test, event);
	local_irq_disable();
	n[0] = count_writes(page);
	rig_add(event, PERF_EF_START);
	n[1] = count_writes(page);
	rig_stop(event, PERF_EF_UPDATE);
	n[2] = count_writes(page);
	rig_start(event, PERF_EF_RELOAD);
	n[3] = count_writes(page);
	rig_tick(RIG_PULSED, 30);
	rig_del(event);
	n[4] = count_writes(page);
	whole = page->lock % 2;
	local_irq_enable();

	for (i = 1; i < ARRAY_SIZE(n); i++)
		KUNIT_EXPECT_GT_MSG(test, n[i], n[i - 1], "change %u", i);
	KUNIT_EXPECT_EQ(test, whole, 0U);
	KUNIT_EXPECT_EQ(test, page->offset, 30LL);
	/* User space cannot read any counter of this PMU. */
	KUNIT_EXPECT_EQ(test, page->index, 0U);
	KUNIT_EXPECT_EQ(test, event->pmu->event_idx(event), 0);
}

/* The first event has counter 0. A wrong callback could return 0 for it, which means unreadable. */
static void page_of_an_unreadable_counter_has_no_index(struct kunit *test)
{
	struct perf_event_attr attr = rig_attr(RIG_PULSED);
	struct perf_event *first = recorder_open(test, &attr);
	struct perf_event *second = recorder_open(test, &attr);
	const struct perf_event_mmap_page *page = attach_page(test, second);
	int counter, index;
	u32 published;

	VERIFIES(test, "DRC-087", "RDP-003");
	local_irq_disable();
	rig_add(first, PERF_EF_START);
	rig_add(second, PERF_EF_START);
	counter = second->hw.idx;
	index = second->pmu->event_idx(second);
	perf_event_update_userpage(second);
	published = page->index;
	rig_del(second);
	rig_del(first);
	local_irq_enable();

	KUNIT_EXPECT_GT(test, counter, 0);
	KUNIT_EXPECT_EQ(test, index, 0);
	KUNIT_EXPECT_EQ(test, published, 0U);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(page_has_an_index_while_the_event_counts),
	KUNIT_CASE(every_state_change_updates_the_page),
	KUNIT_CASE(page_of_an_unreadable_counter_has_no_index),
	{}
};

static struct kunit_suite suite = {
	.name = "contract_page",
	.init = recorder_init,
	.exit = page_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
