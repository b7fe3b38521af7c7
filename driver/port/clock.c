// SPDX-License-Identifier: GPL-2.0-only
/*
 * The automatic clock: one tick for each nanosecond of local_clock(). The model receives the ticks
 * whenever a register is accessed, and when the timer of the next overflow fires. The work clock
 * (work.c) replaces this source of ticks, and uses the same timer.
 *
 * Exactness: only the timer lets the clock overflow a counter, and it raises the interrupt at once.
 * On every other occasion the clock stops one tick before the overflow. It also stops while the
 * line is up and while the handler runs. Therefore no counter counts on after an overflow that was
 * not handled.
 *
 * The timer fires late, and the handler takes time. The clock catches up on the time since the
 * overflow after the handler has run, otherwise a shorter period would make an event slower. The
 * amount is limited, because a CPU that is too slow would never catch up.
 *
 * Privilege is accounted like CPU time at a tick. When the timer fires, the elapsed time has the
 * privilege that the timer interrupted. On any other access it is user time if a user task is
 * current, otherwise kernel time.
 */
#include <linux/sched/clock.h>

#include "clock.h"
#include "work.h"

/*
 * Limits of the timer. A timer that fires more often than MIN_TIMER_NS would take all CPU time, so
 * the clock waits instead. One that fires less often than MAX_TIMER_NS would make the accounting of
 * privileges too coarse.
 */
#define MIN_TIMER_NS (5 * NSEC_PER_USEC)
#define MAX_TIMER_NS NSEC_PER_MSEC

/* Limit of the time that the clock catches up on. */
#define MAX_BACKLOG_NS (100 * NSEC_PER_USEC)

/* Return true while the model gets no ticks from the clock. */
bool refpmu_clock_stands_still(const struct refpmu_cpu *cpuc)
{
	return cpuc->clock_mode != REFPMU_CLOCK_AUTO || cpuc->in_handler || refpmu_line(cpuc);
}

/* Return the ticks since the last update of the model; 0 if the clock was stopped. */
u64 refpmu_clock_elapsed(const struct refpmu_cpu *cpuc, u64 now)
{
	const u64 base = cpuc->clock_base;

	return base && now > base ? now - base : 0;
}

/*
 * refpmu_clock_sync() while the clock runs. perf disables the PMU while it adds and deletes events,
 * which takes many accesses. The clock then stops at the first access and starts again when the
 * counters are enabled.
 */
void refpmu_clock_advance(struct refpmu_cpu *cpuc)
{
	enum refpmu_privilege priv = current->mm ? REFPMU_USER : REFPMU_KERNEL;
	u64 now, ticks;

	/* refpmu_clock_resume() accounts for the time that passes while the handler runs. */
	if (cpuc->in_handler)
		return;
	if (!refpmu_model_counting(&cpuc->model)) {
		cpuc->clock_base = 0;
		return;
	}
	if (cpuc->work.counts) {
		refpmu_work_catch_up(cpuc, NULL);
		return;
	}
	now = local_clock();
	ticks = refpmu_clock_elapsed(cpuc, now);
	cpuc->clock_base = now;
	if (refpmu_clock_stands_still(cpuc))
		return;
	if (cpuc->line_held)
		refpmu_model_advance(&cpuc->model, ticks, priv, true);
	else
		refpmu_model_pass(&cpuc->model, ticks, priv);
}

/*
 * Called when the handler has run. The clock continues from the time of the overflow, but at most
 * MAX_BACKLOG_NS back.
 */
void refpmu_clock_resume(struct refpmu_cpu *cpuc, u64 now)
{
	if (!cpuc->work.counts && cpuc->clock_base && cpuc->clock_base + MAX_BACKLOG_NS < now)
		cpuc->clock_base = now - MAX_BACKLOG_NS;
}

/* Start the clock. */
static void begin(struct refpmu_cpu *cpuc, u64 now)
{
	if (cpuc->work.counts)
		refpmu_work_begin(cpuc);
	else
		cpuc->clock_base = now;
}

/* Return the local_clock() time for which to set the timer; ~0 if no counter can overflow. */
static u64 next_overflow(struct refpmu_cpu *cpuc, u64 now)
{
	u64 ticks, due;

	if (cpuc->work.counts) {
		ticks = refpmu_work_delay(cpuc);
		return ticks == ~0ULL ? ticks : now + ticks;
	}
	ticks = refpmu_model_ticks_to_overflow(&cpuc->model);
	if (ticks == ~0ULL)
		return ticks;
	due = min_t(u64, ticks, MAX_TIMER_NS) + now - refpmu_clock_elapsed(cpuc, now);
	return max(due, now + MIN_TIMER_NS);
}

/*
 * Called when the state of the counters has changed. Starts the clock if a counter is enabled, and
 * sets the timer for the next overflow of a counter that the clock drives.
 *
 * A timer that is already due by then stays as it is, even if it is not needed any more: setting a
 * timer costs more than a needless interrupt, and perf disables and enables the PMU at each context
 * switch. Runs on the CPU of @cpuc, with interrupts off, not in an NMI.
 */
void refpmu_clock_arm(struct refpmu_cpu *cpuc)
{
	const u64 now = local_clock();
	u64 due;

	if (!cpuc->clock_base && refpmu_model_counting(&cpuc->model))
		begin(cpuc, now);
	if (refpmu_clock_stands_still(cpuc) || cpuc->line_held)
		return;
	due = next_overflow(cpuc, now);
	if (due == ~0ULL)
		return;
	if (hrtimer_is_queued(&cpuc->timer) && cpuc->timer_due <= due)
		return;
	cpuc->timer_due = due;
	hrtimer_start(&cpuc->timer, ns_to_ktime(due - now), HRTIMER_MODE_REL_PINNED_HARD);
}

/* Set the source of clock ticks, REFPMU_CLOCK_*. On the CPU of @cpuc, interrupts off. */
void refpmu_clock_mode(struct refpmu_cpu *cpuc, u32 mode)
{
	refpmu_clock_sync(cpuc);
	cpuc->clock_mode = mode;
	cpuc->clock_base = 0;
	refpmu_clock_arm(cpuc);
}
