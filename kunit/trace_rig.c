// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>
#include <linux/ktime.h>

#include "compat.h"
#include "trace_rig.h"

#define EVENT_CPU 0 /* CPU of the events */
#define CODE 0xffffffff81000000ULL
#define RECORD TRACE_RIG_RECORD

static struct perf_event_attr attr_of(u32 type)
{
	return (struct perf_event_attr){
		.type = type,
		.size = sizeof(struct perf_event_attr),
		.disabled = 1,
	};
}

struct perf_event_attr trace_rig_attr(const struct trace_rig *rig)
{
	return attr_of(rig->pmu->type);
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

int trace_rig_init(struct kunit *test)
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

void trace_rig_free_buffer(struct trace_rig *rig)
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

void trace_rig_exit(struct kunit *test)
{
	struct trace_rig *rig = test->priv;

	if (!rig || !rig->event)
		return;
	perf_event_disable(rig->event);
	/* A case that failed early may have added the event itself. */
	smp_call_function_single(EVENT_CPU, del_event, rig, 1);
	trace_rig_free_buffer(rig);
	perf_event_release_kernel(rig->event);
	KUNIT_EXPECT_EQ(test, trace_rig_live(), 0ULL);
}

void trace_rig_open(struct kunit *test, struct perf_event_attr *attr)
{
	struct trace_rig *rig = test->priv;
	struct perf_event *event;

	event = perf_event_create_kernel_counter(attr, EVENT_CPU, NULL, NULL, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	rig->event = event;
}

void trace_rig_map(struct kunit *test, unsigned int pages, bool snapshot)
{
	struct trace_rig *rig = test->priv;

	rig->rb = rb_alloc(1, 0, EVENT_CPU, RING_BUFFER_WRITABLE);
	KUNIT_ASSERT_NOT_NULL(test, rig->rb);
	KUNIT_ASSERT_EQ(test, rb_alloc_aux(rig->rb, rig->event, 2, pages, 0,
					   snapshot ? 0 : RING_BUFFER_WRITABLE), 0);
	compat_set_map_count(&rig->rb->aux_mmap_count, 1);
	WRITE_ONCE(rig->event->rb, rig->rb);
}

void trace_rig_open_mapped(struct kunit *test, unsigned int pages, bool snapshot)
{
	struct trace_rig *rig = test->priv;
	struct perf_event_attr attr = trace_rig_attr(rig);

	trace_rig_open(test, &attr);
	trace_rig_map(test, pages, snapshot);
}

struct perf_event *trace_rig_new_event(struct kunit *test, const struct perf_event_attr *attr)
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

u64 trace_rig_reg(const struct trace_rig *rig, u32 number)
{
	u64 value = ~0ULL;

	WARN_ON(refpmu_model_read(&rig->t->model, number, &value));
	return value;
}

static struct refpmu_branch branch_no(u64 i)
{
	return (struct refpmu_branch){ .from = CODE + 16 * i, .to = CODE + 16 * i + 8 };
}

bool trace_rig_wait_disabled(const struct perf_event *event)
{
	const u64 deadline = ktime_get_ns() + NSEC_PER_SEC;

	while (READ_ONCE(event->state) != PERF_EVENT_STATE_OFF) {
		if (ktime_get_ns() > deadline)
			return false;
		cpu_relax();
	}
	return true;
}

void trace_rig_generate_one(struct trace_rig *rig, enum refpmu_privilege privilege)
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

void trace_rig_generate(struct kunit *test, unsigned int n)
{
	struct trace_rig *rig = test->priv;

	for (; n; n--) {
		const u64 deadline = ktime_get_ns() + NSEC_PER_SEC;

		trace_rig_generate_one(rig, REFPMU_KERNEL);
		while (irq_work_is_busy(&rig->t->pmi) && ktime_get_ns() < deadline)
			cpu_relax();
		KUNIT_ASSERT_FALSE(test, refpmu_trace_line(rig->t));
	}
}

const struct refpmu_bts_record *trace_rig_record_at(const struct trace_rig *rig,
						    unsigned int offset)
{
	return rig->rb->aux_pages[offset / PAGE_SIZE] + offset % PAGE_SIZE;
}

void trace_rig_expect_branches(struct kunit *test, unsigned int offset, unsigned int n, u64 first)
{
	const struct trace_rig *rig = test->priv;
	unsigned int i;

	for (i = 0; i < n; i++) {
		const struct refpmu_branch branch = branch_no(first + i);
		const struct refpmu_bts_record *record;

		record = trace_rig_record_at(rig, offset + i * RECORD);
		KUNIT_EXPECT_EQ_MSG(test, record->from, branch.from, "record %u", i);
		KUNIT_EXPECT_EQ_MSG(test, record->to, branch.to, "record %u", i);
		KUNIT_EXPECT_EQ_MSG(test, record->flags, REFPMU_BTS_PREDICTED, "record %u", i);
	}
}

struct aux_record {
	struct perf_event_header header;
	u64 offset;
	u64 size;
	u64 flags;
};

struct trace_rig_summary trace_rig_summary(const struct trace_rig *rig)
{
	const u64 end = local_read(&rig->rb->head);
	const void *data = rig->rb->data_pages[0];
	struct trace_rig_summary summary = { .starts = 0 };
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
