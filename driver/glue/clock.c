// SPDX-License-Identifier: GPL-2.0-only
/*
 * The automatic clock: one tick a nanosecond of local_clock(), passed to the model whenever a
 * register is accessed and when the timer of the next overflow fires.
 *
 * Exactness: only the timer lets the clock overflow a counter, and it sends the interrupt at once.
 * On any other occasion time stops one tick before the overflow, and it stands still while the line
 * is up and while the handler runs. So nothing is counted past an overflow that was not served.
 *
 * The timer is late, and the handler takes its time: what has passed since the overflow is caught
 * up with when that has been served, or an event would be the slower the shorter its period is.
 * There is a limit to that, since a CPU that cannot keep up never will.
 *
 * Privilege is accounted as the tick accounts CPU time: what passed until the timer fires has the
 * privilege that the timer interrupted; what passed until another access is user time if a user
 * task is current, kernel time if not.
 */
#include <linux/sched/clock.h>

#include <asm/irq_regs.h>

#include "compat.h"
#include "refpmu.h"

/*
 * A timer that fires oftener leaves no time to anybody else; the clock waits instead. One that
 * fires less often would tell little about privileges.
 */
#define SOONEST_NS (5 * NSEC_PER_USEC)
#define LATEST_NS NSEC_PER_MSEC

/* More than that is not caught up with. */
#define CARRIED_NS (100 * NSEC_PER_USEC)

static bool stands_still(const struct refpmu_cpu *cpuc)
{
	return cpuc->clock_mode != REFPMU_CLOCK_AUTO || cpuc->serving || refpmu_line(cpuc);
}

/* Ticks that have passed since the model was told last; none if time was not running then. */
static u64 elapsed_ticks(const struct refpmu_cpu *cpuc, u64 now)
{
	const u64 base = cpuc->clock_base;

	return base && now > base ? now - base : 0;
}

/*
 * refpmu_clock_sync() while time runs. perf has the PMU disabled while it adds and deletes events,
 * which are many accesses: time then stops at the first one, and begins anew when the counters are
 * let go.
 */
void refpmu_clock_pass(struct refpmu_cpu *cpuc)
{
	enum refpmu_privilege priv = current->mm ? REFPMU_USER : REFPMU_KERNEL;
	u64 now, ticks;

	/* What passes while the handler runs is left for later. */
	if (cpuc->serving)
		return;
	if (!refpmu_model_counting(&cpuc->model)) {
		cpuc->clock_base = 0;
		return;
	}
	now = local_clock();
	ticks = elapsed_ticks(cpuc, now);
	cpuc->clock_base = now;
	if (stands_still(cpuc))
		return;
	if (cpuc->held)
		refpmu_model_advance(&cpuc->model, ticks, priv, true);
	else
		refpmu_model_pass(&cpuc->model, ticks, priv);
}

/* The handler has run: time goes on from where the overflow was, if that is not long ago. */
void refpmu_clock_resume(struct refpmu_cpu *cpuc, u64 now)
{
	if (cpuc->clock_base && cpuc->clock_base + CARRIED_NS < now)
		cpuc->clock_base = now - CARRIED_NS;
}

/*
 * What the counters wait for has changed: let time run if they count, and have the timer fire in
 * time for the next overflow of one that the clock drives. A timer that fires no later than that is
 * left alone, and one that is not needed fires into nothing: to set one costs more than that, and
 * perf disables and enables the PMU with each switch of tasks. On its CPU, interrupts off, not in
 * an NMI.
 */
void refpmu_clock_arm(struct refpmu_cpu *cpuc)
{
	const u64 ticks = refpmu_model_ticks_to_overflow(&cpuc->model);
	const u64 now = local_clock();
	u64 due;

	if (!cpuc->clock_base && refpmu_model_counting(&cpuc->model))
		cpuc->clock_base = now;
	if (stands_still(cpuc) || cpuc->held || ticks == ~0ULL)
		return;
	due = min_t(u64, ticks, LATEST_NS) + now - elapsed_ticks(cpuc, now);
	due = max(due, now + SOONEST_NS);
	if (hrtimer_is_queued(&cpuc->timer) && cpuc->timer_due <= due)
		return;
	cpuc->timer_due = due;
	hrtimer_start(&cpuc->timer, ns_to_ktime(due - now), HRTIMER_MODE_REL_PINNED_HARD);
}

/* Who lets time pass from now on: REFPMU_CLOCK_*. On its CPU, interrupts off. */
void refpmu_clock_mode(struct refpmu_cpu *cpuc, u32 mode)
{
	refpmu_clock_sync(cpuc);
	cpuc->clock_mode = mode;
	cpuc->clock_base = 0;
	refpmu_clock_arm(cpuc);
}

/* The clock overflows a counter where the timer has interrupted the CPU. */
static void fire(struct refpmu_cpu *cpuc, struct pt_regs *regs)
{
	struct refpmu_cause *cause = &cpuc->cause;
	const u64 now = local_clock();
	const struct refpmu_stimulus stimulus = {
		.clock = true,
		.n = elapsed_ticks(cpuc, now),
		.origin = &cause->origin,
	};
	struct refpmu_model_step step;

	if (!stimulus.n || stands_still(cpuc) || cpuc->held)
		return;
	cause->regs = *regs;
	cause->origin = (struct refpmu_origin){
		.privilege = user_mode(regs) ? REFPMU_USER : REFPMU_KERNEL,
		.ip = instruction_pointer(regs),
		.time = refpmu_record_time(),
	};
	refpmu_compat_get_gprs(regs, &cause->origin.flags, cause->origin.gpr);
	step = refpmu_model_stimulate(&cpuc->model, &stimulus);
	cpuc->clock_base += step.done;
	if (refpmu_line(cpuc))
		refpmu_raise_pmi_in_irq(cpuc);
}

static enum hrtimer_restart refpmu_timer(struct hrtimer *timer)
{
	struct refpmu_cpu *cpuc = container_of(timer, struct refpmu_cpu, timer);
	struct pt_regs *regs = get_irq_regs();

	/* The timers of a CPU that goes offline move to another one. */
	if (cpuc->cpu != smp_processor_id() || WARN_ON_ONCE(!regs))
		return HRTIMER_NORESTART;
	/* An NMI that is not over by then sees to the arming itself. */
	cpuc->arming = true;
	fire(cpuc, regs);
	cpuc->arming = false;
	barrier();
	refpmu_clock_arm(cpuc);
	return HRTIMER_NORESTART;
}

/* Before anything else of the clock; the timer needs no more to be given up than its cancelling. */
void refpmu_clock_setup(struct refpmu_cpu *cpuc)
{
	hrtimer_init(&cpuc->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	cpuc->timer.function = refpmu_timer;
}
