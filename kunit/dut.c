// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls the callbacks of a PMU in use, concurrently with perf.
 *
 * This is safe because it looks to the driver like calls by perf. perf has opened the events but
 * not enabled them, and it calls no callback for a disabled event. Each event therefore has one
 * caller. It runs on the CPU of the events, with interrupts off, under the lock of the events'
 * context, with the PMU disabled, and in an order that perf may use, too. Between two calls
 * interrupts are on and the PMU works for other events; it may also raise an interrupt for an event
 * of a case.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "dut.h"

#define COUNT_NS NSEC_PER_SEC /* an event that happens on a busy CPU happens within this time */

/*
 * Wait several times as long as the event takes. With interrupts off the wait must be short. It
 * must not depend on the clock alone, which may stand still until the next tick.
 */
#define WAIT_TIMES 4
#define WAIT_LEAST_NS (100 * NSEC_PER_USEC)
#define WAIT_MOST_NS (100 * NSEC_PER_MSEC)
#define WAIT_MOST_OFF_NS (5 * NSEC_PER_MSEC)
#define WAIT_MOST_OFF_TURNS 10000

#define THROTTLED (~0ULL) /* MAX_INTERRUPTS of perf */

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

/* May run in an NMI. */
static void overflowed(struct perf_event *event, struct perf_sample_data *data,
		       struct pt_regs *regs)
{
	struct dut_sampled *sampled = event->overflow_handler_context;

	sampled->samples++;
	/* perf compares this at the next overflow, unless a tick comes first. */
	if (READ_ONCE(sampled->throttle) && event->hw.interrupts != THROTTLED)
		event->hw.interrupts = U32_MAX;
	if (data->period != sampled->period)
		sampled->wrong_period = data->period;
}

int dut_sample(struct dut *dut, u64 period, struct dut_sampled *sampled)
{
	struct perf_event_attr attr = dut->attr;
	struct perf_event *event;

	attr.sample_period = period;
	event = perf_event_create_kernel_counter(&attr, dut->cpu, NULL, overflowed, sampled);
	*sampled = (struct dut_sampled){ .event = event, .period = period };
	return PTR_ERR_OR_ZERO(event);
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

static int *depth(const struct dut *dut)
{
	return this_cpu_ptr(dut->pmu->pmu_disable_count);
}

/* perf_pmu_disable() and perf_pmu_enable(), which are not exported to modules. */
void dut_pmu_disable(struct dut *dut)
{
	if (!(*depth(dut))++)
		dut->pmu->pmu_disable(dut->pmu);
}

void dut_pmu_enable(struct dut *dut)
{
	if (!--(*depth(dut)))
		dut->pmu->pmu_enable(dut->pmu);
}

void dut_lock(struct dut *dut)
{
	local_irq_save(dut->irqs);
	raw_spin_lock(&dut->events[0]->ctx->lock);
	/* sparse requires the acquire and the release in the same function. */
	__release(&dut->events[0]->ctx->lock);
}

void dut_unlock(struct dut *dut)
{
	__acquire(&dut->events[0]->ctx->lock);
	raw_spin_unlock(&dut->events[0]->ctx->lock);
	local_irq_restore(dut->irqs);
}

void dut_off(struct dut *dut)
{
	dut_lock(dut);
	dut_pmu_disable(dut);
}

void dut_on(struct dut *dut)
{
	dut_pmu_enable(dut);
	dut_unlock(dut);
}

struct place {
	int depth;
	int preempt;
	int cpu;
	bool irqs_off;
};

static struct place current_place(const struct dut *dut)
{
	return (struct place){
		.depth = *depth(dut),
		.preempt = preempt_count(),
		.cpu = raw_smp_processor_id(),
		.irqs_off = irqs_disabled(),
	};
}

static void compare(struct dut *dut, const struct place *affinity, const char *caller)
{
	const struct place now = current_place(dut);
	const char *unrestored = NULL;

	if (now.irqs_off != affinity->irqs_off)
		unrestored = "interrupts";
	else if (now.preempt != affinity->preempt)
		unrestored = "the count of preemption";
	else if (now.depth != affinity->depth)
		unrestored = "the PMU, on or off,";
	else if (now.cpu != affinity->cpu)
		unrestored = "the CPU";
	if (!unrestored || dut->unrestored)
		return;
	dut->caller = caller;
	dut->unrestored = unrestored;
}

int dut_call_add(struct dut *dut, unsigned int i, int flags)
{
	const struct place affinity = current_place(dut);
	const int err = dut->pmu->add(dut->events[i], flags);

	compare(dut, &affinity, "add");
	dut->added[i] = !err;
	return err;
}

void dut_call_del(struct dut *dut, unsigned int i)
{
	const struct place affinity = current_place(dut);

	dut->pmu->del(dut->events[i], 0);
	compare(dut, &affinity, "del");
	dut->added[i] = false;
}

void dut_call_start(struct dut *dut, unsigned int i, int flags)
{
	const struct place affinity = current_place(dut);

	dut->pmu->start(dut->events[i], flags);
	compare(dut, &affinity, "start");
}

void dut_call_stop(struct dut *dut, unsigned int i, int flags)
{
	const struct place affinity = current_place(dut);

	dut->pmu->stop(dut->events[i], flags);
	compare(dut, &affinity, "stop");
}

u64 dut_call_read(struct dut *dut, unsigned int i)
{
	const struct place affinity = current_place(dut);

	dut->pmu->read(dut->events[i]);
	compare(dut, &affinity, "read");
	return dut_count(dut, i);
}

int dut_add(struct dut *dut, unsigned int i, int flags)
{
	int err;

	dut_off(dut);
	err = dut_call_add(dut, i, flags);
	dut_on(dut);
	return err;
}

void dut_del(struct dut *dut, unsigned int i)
{
	dut_off(dut);
	dut_call_del(dut, i);
	dut_on(dut);
}

void dut_start(struct dut *dut, unsigned int i, int flags)
{
	dut_off(dut);
	dut_call_start(dut, i, flags);
	dut_on(dut);
}

void dut_stop(struct dut *dut, unsigned int i, int flags)
{
	dut_off(dut);
	dut_call_stop(dut, i, flags);
	dut_on(dut);
}

u64 dut_read(struct dut *dut, unsigned int i)
{
	u64 count;

	dut_lock(dut);
	count = dut_call_read(dut, i);
	dut_unlock(dut);
	return count;
}

void dut_txn_start(struct dut *dut)
{
	dut_off(dut);
	dut->pmu->start_txn(dut->pmu, PERF_PMU_TXN_ADD);
}

int dut_txn_commit(struct dut *dut)
{
	const int err = dut->pmu->commit_txn(dut->pmu);

	if (!err)
		dut_on(dut);
	return err;
}

void dut_txn_cancel(struct dut *dut)
{
	dut->pmu->cancel_txn(dut->pmu);
	dut_on(dut);
}

u64 dut_count(const struct dut *dut, unsigned int i)
{
	return local64_read(&dut->events[i]->count);
}

int dut_flags(const struct dut *dut, unsigned int i)
{
	return dut->events[i]->hw.state & DUT_STOPPED_UPTODATE;
}

static void generate_one(const struct dut *dut)
{
	if (dut->target->generate)
		dut->target->generate();
	cpu_relax();
}

u64 dut_event_counts(struct dut *dut, unsigned int i)
{
	const u64 began = ktime_get_ns(), from = dut_count(dut, i);
	u64 now;

	do {
		generate_one(dut);
		now = ktime_get_ns();
		if (dut_read(dut, i) != from)
			return max_t(u64, now - began, 1);
	} while (now - began < COUNT_NS);
	return 0;
}

bool dut_await(const struct dut *dut, const struct dut_sampled *sampled, u64 n)
{
	const u64 until = ktime_get_ns() + COUNT_NS;

	while (READ_ONCE(sampled->samples) < n && ktime_get_ns() < until)
		generate_one(dut);
	return READ_ONCE(sampled->samples) >= n;
}

bool dut_throttle(const struct dut *dut, struct dut_sampled *sampled, int *flags)
{
	const u64 until = ktime_get_ns() + COUNT_NS;
	bool done = false;

	WRITE_ONCE(sampled->throttle, true);
	do {
		generate_one(dut);
		local_irq_disable();
		/* The event stays throttled until the next tick. */
		if (sampled->event->hw.interrupts == THROTTLED) {
			*flags = sampled->event->hw.state;
			WRITE_ONCE(sampled->throttle, false);
			done = true;
		}
		local_irq_enable();
	} while (!done && ktime_get_ns() < until);
	return done;
}

void dut_wait(const struct dut *dut, u64 ns)
{
	const bool off = irqs_disabled();
	const u64 most = off ? WAIT_MOST_OFF_NS : WAIT_MOST_NS;
	const u64 until = ktime_get_ns() + clamp_t(u64, WAIT_TIMES * ns, WAIT_LEAST_NS, most);
	unsigned int turns = 0;

	do {
		generate_one(dut);
	} while (ktime_get_ns() < until && !(off && ++turns == WAIT_MOST_OFF_TURNS));
}

bool dut_stops_when_off(struct dut *dut, u64 pace)
{
	u64 from, to;

	dut_off(dut);
	from = dut_call_read(dut, 0);
	dut_wait(dut, pace);
	to = dut_call_read(dut, 0);
	dut_on(dut);
	return from == to;
}

unsigned int dut_fill(struct dut *dut)
{
	unsigned int i;

	while (dut_open(dut))
		;
	for (i = 0; i < dut->n_events; i++) {
		if (dut_add(dut, i, dut_start_flag(dut)))
			break;
	}
	return i;
}
