// SPDX-License-Identifier: GPL-2.0-only
/*
 * The automatic clock: one tick for each nanosecond of local_clock(). The model receives the ticks
 * whenever a register is accessed, and when the timer of the next overflow fires.
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

#include <asm/irq_regs.h>

#include "compat/compat.h"
#include "core_pmu/refpmu.h"

/*
 * Limits of the timer. A timer that fires more often than SOONEST_NS would take all CPU time, so
 * the clock waits instead. One that fires less often than LATEST_NS would make the accounting of
 * privileges too coarse.
 */
#define SOONEST_NS (5 * NSEC_PER_USEC)
#define LATEST_NS NSEC_PER_MSEC

/* Limit of the time that the clock catches up on. */
#define CARRIED_NS (100 * NSEC_PER_USEC)

static bool stands_still(const struct refpmu_cpu *cpuc)
{
	return cpuc->clock_mode != REFPMU_CLOCK_AUTO || cpuc->serving || refpmu_line(cpuc);
}

/* Ticks since the last update of the model; 0 if the clock was stopped. */
static u64 elapsed_ticks(const struct refpmu_cpu *cpuc, u64 now)
{
	const u64 base = cpuc->clock_base;

	return base && now > base ? now - base : 0;
}

/*
 * refpmu_clock_sync() while the clock runs. perf disables the PMU while it adds and deletes events,
 * which takes many accesses. The clock then stops at the first access and starts again when the
 * counters are enabled.
 */
void refpmu_clock_pass(struct refpmu_cpu *cpuc)
{
	enum refpmu_privilege priv = current->mm ? REFPMU_USER : REFPMU_KERNEL;
	u64 now, ticks;

	/* refpmu_clock_resume() accounts for the time that passes while the handler runs. */
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

/*
 * Called when the handler has run. The clock continues from the time of the overflow, but at most
 * CARRIED_NS back.
 */
void refpmu_clock_resume(struct refpmu_cpu *cpuc, u64 now)
{
	if (cpuc->clock_base && cpuc->clock_base + CARRIED_NS < now)
		cpuc->clock_base = now - CARRIED_NS;
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

/* Set the source of clock ticks, REFPMU_CLOCK_*. On the CPU of @cpuc, interrupts off. */
void refpmu_clock_mode(struct refpmu_cpu *cpuc, u32 mode)
{
	refpmu_clock_sync(cpuc);
	cpuc->clock_mode = mode;
	cpuc->clock_base = 0;
	refpmu_clock_arm(cpuc);
}

/* Advance the clock up to an overflow. Samples get the registers that the timer interrupted. */
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

	/* The timers of a CPU that goes offline migrate to another CPU. */
	if (cpuc->cpu != smp_processor_id() || WARN_ON_ONCE(!regs))
		return HRTIMER_NORESTART;
	/*
	 * An NMI that arrives until arming is false again need not queue the irq_work that arms the
	 * clock, because refpmu_clock_arm() follows below.
	 */
	cpuc->arming = true;
	fire(cpuc, regs);
	cpuc->arming = false;
	barrier();
	refpmu_clock_arm(cpuc);
	return HRTIMER_NORESTART;
}

/*
 * Must come before every other function of the clock. There is no teardown besides
 * hrtimer_cancel().
 */
void refpmu_clock_setup(struct refpmu_cpu *cpuc)
{
	hrtimer_init(&cpuc->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	cpuc->timer.function = refpmu_timer;
}
