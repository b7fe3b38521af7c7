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

#include "compat.h"
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

static int *depth(const struct dut *dut)
{
	return compat_disable_count(dut->pmu);
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
