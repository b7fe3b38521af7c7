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

#include "live.h"

#define MOVES_NS NSEC_PER_SEC /* an event that happens on a busy CPU happens within this time */

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
static struct live only;

/* Open an event of any PMU to find the parent of all PMU devices. */
static struct device *find_device(struct live *live, const char *name)
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
	live->software = event->pmu;
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
static int open_first(struct live *live)
{
	struct perf_event *event = ERR_PTR(-ENODEV);
	int cpu;

	for_each_online_cpu(cpu) {
		event = open_on(&live->attr, cpu);
		if (!IS_ERR(event))
			break;
	}
	if (IS_ERR(event))
		return PTR_ERR(event);
	live->events[live->n_events++] = event;
	live->pmu = event->pmu;
	live->cpu = event->cpu;
	return 0;
}

int live_init(struct kunit *test, const struct live_target *target)
{
	struct live *live = &only;
	const struct pmu *pmu;
	int err;

	*live = (struct live){ .target = target };
	live->dev = find_device(live, target->pmu);
	if (!live->dev) {
		kunit_err(test, "no PMU is called '%s'\n", target->pmu);
		return -ENODEV;
	}
	pmu = dev_get_drvdata(live->dev);
	live->attr = (struct perf_event_attr){
		.type = pmu->type,
		.size = sizeof(live->attr),
		.config = target->config,
		.config1 = target->config1,
		.config2 = target->config2,
		.disabled = 1,
	};
	err = open_first(live);
	if (err) {
		kunit_err(test, "no event 0x%llx of %s on any CPU: %d\n", target->config,
			  target->pmu, err);
		put_device(live->dev);
		return err;
	}
	test->priv = live;
	cpumask_copy(&live->before, current->cpus_ptr);
	return set_cpus_allowed_ptr(current, cpumask_of(live->cpu));
}

void live_exit(struct kunit *test)
{
	struct live *live = test->priv;
	unsigned int i;

	if (!live)
		return;
	/* On some kernels another thread runs the exit function. */
	set_cpus_allowed_ptr(current, cpumask_of(live->cpu));
	for (i = 0; i < live->n_events; i++) {
		if (live->added[i])
			live_del(live, i);
	}
	while (live->n_events)
		live_close(live);
	set_cpus_allowed_ptr(current, &live->before);
	put_device(live->dev);
	KUNIT_EXPECT_TRUE_MSG(test, !live->left, "%s leaves %s other than it was", live->caller,
			      live->left);
}

bool live_is_whole(struct kunit *test)
{
	const struct live *live = test->priv;
	const struct pmu *pmu = live->pmu;

	if (pmu->add && pmu->del && pmu->start && pmu->stop && pmu->read && pmu->pmu_enable &&
	    pmu->pmu_disable && pmu->start_txn && pmu->commit_txn && pmu->cancel_txn)
		return true;
	kunit_mark_skipped(test, "an operation is missing");
	return false;
}

struct perf_event *live_open(struct live *live)
{
	return live_open_of(live, &live->attr);
}

struct perf_event *live_open_of(struct live *live, const struct perf_event_attr *attr)
{
	struct perf_event *event;

	if (live->n_events == LIVE_EVENTS)
		return NULL;
	event = open_on(attr, live->cpu);
	if (IS_ERR(event))
		return NULL;
	live->added[live->n_events] = false;
	live->events[live->n_events++] = event;
	return event;
}

void live_close(struct live *live)
{
	perf_event_release_kernel(live->events[--live->n_events]);
}

int live_try(struct live *live, const struct perf_event_attr *attr, int cpu,
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
	struct live_sampled *sampled = event->overflow_handler_context;

	sampled->samples++;
	/* perf compares this at the next overflow, unless a tick comes first. */
	if (READ_ONCE(sampled->too_often) && event->hw.interrupts != THROTTLED)
		event->hw.interrupts = U32_MAX;
	if (data->period != sampled->period)
		sampled->odd = data->period;
}

int live_sample(struct live *live, u64 period, struct live_sampled *sampled)
{
	struct perf_event_attr attr = live->attr;
	struct perf_event *event;

	attr.sample_period = period;
	event = perf_event_create_kernel_counter(&attr, live->cpu, NULL, overflowed, sampled);
	*sampled = (struct live_sampled){ .event = event, .period = period };
	return PTR_ERR_OR_ZERO(event);
}

static void prepare(const struct live *live, struct perf_event *event,
		    const struct perf_event_attr *attr)
{
	mutex_init(&event->child_mutex);
	INIT_LIST_HEAD(&event->child_list);
	INIT_LIST_HEAD(&event->event_entry);
	INIT_LIST_HEAD(&event->sibling_list);
	INIT_LIST_HEAD(&event->active_list);
	event->attr = *attr;
	event->group_leader = event;
	event->pmu = live->pmu;
	event->ctx = live->events[0]->ctx;
	event->cpu = live->cpu;
	event->oncpu = -1;
	event->state = PERF_EVENT_STATE_INACTIVE;
	event->hw.sample_period = attr->freq ? 1 : attr->sample_period;
	event->hw.last_period = event->hw.sample_period;
	local64_set(&event->hw.period_left, event->hw.sample_period);
}

int live_ask(struct live *live, const struct perf_event_attr *attr, bool *destroy)
{
	struct perf_event *event = kzalloc(sizeof(*event), GFP_KERNEL);
	int err;

	*destroy = false;
	if (!event)
		return -ENOMEM;
	prepare(live, event, attr);
	err = live->pmu->event_init(event);
	*destroy = event->destroy;
	if (!err && event->destroy)
		event->destroy(event);
	kfree(event);
	return err;
}

static void software_event(const struct live *live, struct perf_event *event)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
	};

	prepare(live, event, &attr);
	event->pmu = live->software;
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
static int join(struct live *live, struct perf_event *event, struct perf_event *leader)
{
	int err;

	prepare(live, event, &live->attr);
	event->group_leader = leader;
	err = live->pmu->event_init(event);
	if (!err && event != leader)
		list(event, leader);
	return err;
}

static void give_back(struct perf_event *event)
{
	if (event->destroy)
		event->destroy(event);
}

struct live_group live_ask_group(struct live *live, unsigned int n, enum live_software software)
{
	/* The additional element is for the software event. */
	struct perf_event *events = kvcalloc(n + 1, sizeof(*events), GFP_KERNEL);
	struct perf_event *leader = software == LIVE_LEADS ? events + n : events;
	struct mutex *stable = &live->events[0]->ctx->mutex;
	struct live_group group = { .err = -ENOMEM };
	struct hw_perf_event before;

	if (!events)
		return group;
	group.err = 0;
	if (software != LIVE_NONE)
		software_event(live, events + n);
	if (software != LIVE_LEADS) {
		group.err = join(live, events, events);
		group.taken = !group.err;
	}
	before = leader->hw;
	mutex_lock(stable);
	if (software == LIVE_JOINS && !group.err)
		list(events + n, leader);
	while (!group.err && group.taken < n) {
		group.err = join(live, events + group.taken, leader);
		if (!group.err)
			group.taken++;
	}
	mutex_unlock(stable);
	group.destroy = group.err && events[group.taken].destroy;
	group.touched = memcmp(&before, &leader->hw, sizeof(before));
	for (n = group.taken; n--;)
		give_back(events + n);
	kvfree(events);
	return group;
}

static int *depth(const struct live *live)
{
	return this_cpu_ptr(live->pmu->pmu_disable_count);
}

/* perf_pmu_disable() and perf_pmu_enable(), which are not exported to modules. */
void live_switch_off(struct live *live)
{
	if (!(*depth(live))++)
		live->pmu->pmu_disable(live->pmu);
}

void live_switch_on(struct live *live)
{
	if (!--(*depth(live)))
		live->pmu->pmu_enable(live->pmu);
}

void live_lock(struct live *live)
{
	local_irq_save(live->irqs);
	raw_spin_lock(&live->events[0]->ctx->lock);
	/* sparse requires the acquire and the release in the same function. */
	__release(&live->events[0]->ctx->lock);
}

void live_unlock(struct live *live)
{
	__acquire(&live->events[0]->ctx->lock);
	raw_spin_unlock(&live->events[0]->ctx->lock);
	local_irq_restore(live->irqs);
}

void live_off(struct live *live)
{
	live_lock(live);
	live_switch_off(live);
}

void live_on(struct live *live)
{
	live_switch_on(live);
	live_unlock(live);
}

struct place {
	int depth;
	int preempt;
	int cpu;
	bool irqs_off;
};

static struct place here(const struct live *live)
{
	return (struct place){
		.depth = *depth(live),
		.preempt = preempt_count(),
		.cpu = raw_smp_processor_id(),
		.irqs_off = irqs_disabled(),
	};
}

static void compare(struct live *live, const struct place *before, const char *caller)
{
	const struct place now = here(live);
	const char *left = NULL;

	if (now.irqs_off != before->irqs_off)
		left = "interrupts";
	else if (now.preempt != before->preempt)
		left = "the count of preemption";
	else if (now.depth != before->depth)
		left = "the PMU, on or off,";
	else if (now.cpu != before->cpu)
		left = "the CPU";
	if (!left || live->left)
		return;
	live->caller = caller;
	live->left = left;
}

int live_call_add(struct live *live, unsigned int i, int flags)
{
	const struct place before = here(live);
	const int err = live->pmu->add(live->events[i], flags);

	compare(live, &before, "add");
	live->added[i] = !err;
	return err;
}

void live_call_del(struct live *live, unsigned int i)
{
	const struct place before = here(live);

	live->pmu->del(live->events[i], 0);
	compare(live, &before, "del");
	live->added[i] = false;
}

void live_call_start(struct live *live, unsigned int i, int flags)
{
	const struct place before = here(live);

	live->pmu->start(live->events[i], flags);
	compare(live, &before, "start");
}

void live_call_stop(struct live *live, unsigned int i, int flags)
{
	const struct place before = here(live);

	live->pmu->stop(live->events[i], flags);
	compare(live, &before, "stop");
}

u64 live_call_read(struct live *live, unsigned int i)
{
	const struct place before = here(live);

	live->pmu->read(live->events[i]);
	compare(live, &before, "read");
	return live_count(live, i);
}

int live_add(struct live *live, unsigned int i, int flags)
{
	int err;

	live_off(live);
	err = live_call_add(live, i, flags);
	live_on(live);
	return err;
}

void live_del(struct live *live, unsigned int i)
{
	live_off(live);
	live_call_del(live, i);
	live_on(live);
}

void live_start(struct live *live, unsigned int i, int flags)
{
	live_off(live);
	live_call_start(live, i, flags);
	live_on(live);
}

void live_stop(struct live *live, unsigned int i, int flags)
{
	live_off(live);
	live_call_stop(live, i, flags);
	live_on(live);
}

u64 live_read(struct live *live, unsigned int i)
{
	u64 count;

	live_lock(live);
	count = live_call_read(live, i);
	live_unlock(live);
	return count;
}

void live_txn_start(struct live *live)
{
	live_off(live);
	live->pmu->start_txn(live->pmu, PERF_PMU_TXN_ADD);
}

int live_txn_commit(struct live *live)
{
	const int err = live->pmu->commit_txn(live->pmu);

	if (!err)
		live_on(live);
	return err;
}

void live_txn_cancel(struct live *live)
{
	live->pmu->cancel_txn(live->pmu);
	live_on(live);
}

u64 live_count(const struct live *live, unsigned int i)
{
	return local64_read(&live->events[i]->count);
}

int live_flags(const struct live *live, unsigned int i)
{
	return live->events[i]->hw.state & LIVE_SETTLED;
}

static void let_happen(const struct live *live)
{
	if (live->target->happen)
		live->target->happen();
	cpu_relax();
}

u64 live_moves_one(struct live *live, unsigned int i)
{
	const u64 began = ktime_get_ns(), from = live_count(live, i);
	u64 now;

	do {
		let_happen(live);
		now = ktime_get_ns();
		if (live_read(live, i) != from)
			return max_t(u64, now - began, 1);
	} while (now - began < MOVES_NS);
	return 0;
}

bool live_await(const struct live *live, const struct live_sampled *sampled, u64 n)
{
	const u64 until = ktime_get_ns() + MOVES_NS;

	while (READ_ONCE(sampled->samples) < n && ktime_get_ns() < until)
		let_happen(live);
	return READ_ONCE(sampled->samples) >= n;
}

bool live_throttle(const struct live *live, struct live_sampled *sampled, int *flags)
{
	const u64 until = ktime_get_ns() + MOVES_NS;
	bool done = false;

	WRITE_ONCE(sampled->too_often, true);
	do {
		let_happen(live);
		local_irq_disable();
		/* The event stays throttled until the next tick. */
		if (sampled->event->hw.interrupts == THROTTLED) {
			*flags = sampled->event->hw.state;
			WRITE_ONCE(sampled->too_often, false);
			done = true;
		}
		local_irq_enable();
	} while (!done && ktime_get_ns() < until);
	return done;
}

void live_wait(const struct live *live, u64 ns)
{
	const bool off = irqs_disabled();
	const u64 most = off ? WAIT_MOST_OFF_NS : WAIT_MOST_NS;
	const u64 until = ktime_get_ns() + clamp_t(u64, WAIT_TIMES * ns, WAIT_LEAST_NS, most);
	unsigned int turns = 0;

	do {
		let_happen(live);
	} while (ktime_get_ns() < until && !(off && ++turns == WAIT_MOST_OFF_TURNS));
}

bool live_holds(struct live *live, u64 pace)
{
	u64 from, to;

	live_off(live);
	from = live_call_read(live, 0);
	live_wait(live, pace);
	to = live_call_read(live, 0);
	live_on(live);
	return from == to;
}

unsigned int live_fill(struct live *live)
{
	unsigned int i;

	while (live_open(live))
		;
	for (i = 0; i < live->n_events; i++) {
		if (live_add(live, i, live_how(live)))
			break;
	}
	return i;
}
