// SPDX-License-Identifier: GPL-2.0-only
/* Opens events of a PMU in use, and calls event_init for events that perf does not know. */
#include <linux/err.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "dut.h"

/* The state of the current case. Cases run one at a time. */
static struct dut the_dut;

/* Open an event of any PMU to find the parent of all PMU devices. */
static struct device *find_device(struct dut *dut, const char *name)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
	};
	struct perf_event *event;
	struct device *dev;

	event = perf_event_create_kernel_counter(&attr, cpumask_first(cpu_online_mask), NULL, NULL,
						 NULL);
	if (IS_ERR(event))
		return NULL;
	dut->software = event->pmu;
	dev = event->pmu->dev ? bus_find_device_by_name(event->pmu->dev->bus, NULL, name) : NULL;
	perf_event_release_kernel(event);
	return dev;
}

static struct perf_event *open_on(const struct perf_event_attr *attr, int cpu)
{
	struct perf_event_attr copy = *attr;

	return perf_event_create_kernel_counter(&copy, cpu, NULL, NULL, NULL);
}

/*
 * Open the event on the first CPU that accepts it. A system-wide PMU or a PMU of one core type does
 * not accept all CPUs.
 */
static int open_first(struct dut *dut)
{
	struct perf_event *event = ERR_PTR(-ENODEV);
	int cpu;

	for_each_online_cpu(cpu) {
		event = open_on(&dut->attr, cpu);
		if (!IS_ERR(event))
			break;
	}
	if (IS_ERR(event))
		return PTR_ERR(event);
	dut->events[dut->n_events++] = event;
	dut->pmu = event->pmu;
	dut->cpu = event->cpu;
	return 0;
}

int dut_init(struct kunit *test, const struct dut_target *target)
{
	struct dut *dut = &the_dut;
	const struct pmu *pmu;
	int err;

	*dut = (struct dut){ .target = target };
	dut->dev = find_device(dut, target->pmu);
	if (!dut->dev) {
		kunit_err(test, "no PMU is called '%s'\n", target->pmu);
		return -ENODEV;
	}
	pmu = dev_get_drvdata(dut->dev);
	dut->attr = (struct perf_event_attr){
		.type = pmu->type,
		.size = sizeof(dut->attr),
		.config = target->config,
		.config1 = target->config1,
		.config2 = target->config2,
		.disabled = 1,
	};
	err = open_first(dut);
	if (err) {
		kunit_err(test, "no event 0x%llx of %s on any CPU: %d\n", target->config,
			  target->pmu, err);
		put_device(dut->dev);
		return err;
	}
	test->priv = dut;
	cpumask_copy(&dut->affinity, current->cpus_ptr);
	return set_cpus_allowed_ptr(current, cpumask_of(dut->cpu));
}

void dut_exit(struct kunit *test)
{
	struct dut *dut = test->priv;
	unsigned int i;

	if (!dut)
		return;
	/* On some kernels another thread runs the exit function. */
	set_cpus_allowed_ptr(current, cpumask_of(dut->cpu));
	for (i = 0; i < dut->n_events; i++) {
		if (dut->added[i])
			dut_del(dut, i);
	}
	while (dut->n_events)
		dut_close(dut);
	set_cpus_allowed_ptr(current, &dut->affinity);
	put_device(dut->dev);
	KUNIT_EXPECT_TRUE_MSG(test, !dut->unrestored, "%s leaves %s other than it was", dut->caller,
			      dut->unrestored);
}

bool dut_has_callbacks(struct kunit *test)
{
	const struct dut *dut = test->priv;
	const struct pmu *pmu = dut->pmu;

	if (pmu->add && pmu->del && pmu->start && pmu->stop && pmu->read && pmu->pmu_enable &&
	    pmu->pmu_disable && pmu->start_txn && pmu->commit_txn && pmu->cancel_txn)
		return true;
	kunit_mark_skipped(test, "an operation is missing");
	return false;
}

struct perf_event *dut_open(struct dut *dut)
{
	return dut_open_attr(dut, &dut->attr);
}

struct perf_event *dut_open_attr(struct dut *dut, const struct perf_event_attr *attr)
{
	struct perf_event *event;

	if (dut->n_events == DUT_EVENTS)
		return NULL;
	event = open_on(attr, dut->cpu);
	if (IS_ERR(event))
		return NULL;
	dut->added[dut->n_events] = false;
	dut->events[dut->n_events++] = event;
	return event;
}

void dut_close(struct dut *dut)
{
	perf_event_release_kernel(dut->events[--dut->n_events]);
}

int dut_try(struct dut *dut, const struct perf_event_attr *attr, int cpu,
	    struct task_struct *task)
{
	struct perf_event_attr copy = *attr;
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&copy, cpu, task, NULL, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	perf_event_release_kernel(event);
	return 0;
}

static void prepare(const struct dut *dut, struct perf_event *event,
		    const struct perf_event_attr *attr)
{
	mutex_init(&event->child_mutex);
	INIT_LIST_HEAD(&event->child_list);
	INIT_LIST_HEAD(&event->event_entry);
	INIT_LIST_HEAD(&event->sibling_list);
	INIT_LIST_HEAD(&event->active_list);
	event->attr = *attr;
	event->group_leader = event;
	event->pmu = dut->pmu;
	event->ctx = dut->events[0]->ctx;
	event->cpu = dut->cpu;
	event->oncpu = -1;
	event->state = PERF_EVENT_STATE_INACTIVE;
	event->hw.sample_period = attr->freq ? 1 : attr->sample_period;
	event->hw.last_period = event->hw.sample_period;
	local64_set(&event->hw.period_left, event->hw.sample_period);
}

int dut_event_init(struct dut *dut, const struct perf_event_attr *attr, bool *destroy)
{
	struct perf_event *event = kzalloc(sizeof(*event), GFP_KERNEL);
	int err;

	*destroy = false;
	if (!event)
		return -ENOMEM;
	prepare(dut, event, attr);
	err = dut->pmu->event_init(event);
	*destroy = event->destroy;
	if (!err && event->destroy)
		event->destroy(event);
	kfree(event);
	return err;
}

static void software_event(const struct dut *dut, struct perf_event *event)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
	};

	prepare(dut, event, &attr);
	event->pmu = dut->software;
	event->event_caps = PERF_EV_CAP_SOFTWARE;
}

static void list(struct perf_event *event, struct perf_event *leader)
{
	event->group_leader = leader;
	list_add_tail(&event->sibling_list, &leader->sibling_list);
	leader->nr_siblings++;
}

/*
 * Call event_init for @event in the group of @leader. A leader is its own group leader. Members are
 * on the leader's list after they were accepted.
 */
static int join(struct dut *dut, struct perf_event *event, struct perf_event *leader)
{
	int err;

	prepare(dut, event, &dut->attr);
	event->group_leader = leader;
	err = dut->pmu->event_init(event);
	if (!err && event != leader)
		list(event, leader);
	return err;
}

static void destroy_event(struct perf_event *event)
{
	if (event->destroy)
		event->destroy(event);
}

struct dut_group dut_group_init(struct dut *dut, unsigned int n, enum dut_software software)
{
	/* The additional element is for the software event. */
	struct perf_event *events = kvcalloc(n + 1, sizeof(*events), GFP_KERNEL);
	struct perf_event *leader = software == DUT_LEADER ? events + n : events;
	struct mutex *stable = &dut->events[0]->ctx->mutex;
	struct dut_group group = { .err = -ENOMEM };
	struct hw_perf_event affinity;

	if (!events)
		return group;
	group.err = 0;
	if (software != DUT_NONE)
		software_event(dut, events + n);
	if (software != DUT_LEADER) {
		group.err = join(dut, events, events);
		group.accepted = !group.err;
	}
	affinity = leader->hw;
	mutex_lock(stable);
	if (software == DUT_MEMBER && !group.err)
		list(events + n, leader);
	while (!group.err && group.accepted < n) {
		group.err = join(dut, events + group.accepted, leader);
		if (!group.err)
			group.accepted++;
	}
	mutex_unlock(stable);
	group.destroy = group.err && events[group.accepted].destroy;
	group.touched = memcmp(&affinity, &leader->hw, sizeof(affinity));
	for (n = group.accepted; n--;)
		destroy_event(events + n);
	kvfree(events);
	return group;
}
