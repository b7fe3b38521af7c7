// SPDX-License-Identifier: GPL-2.0-only
/*
 * The work clock: two ticks for each instruction that the CPU executes, and a pulse for each of its
 * branches, loads and so on. The counts come from the work page (uapi/refpmu_work.h).
 *
 * Exactness: a counter overflows without an interrupt of the emulator. The model receives the work
 * when a register is accessed and when a timer fires, so an overflow is noticed late. The rest of
 * the work then waits until the overflow has been handled, and the model receives it afterwards. So
 * no event is lost, and the number of samples is count / period. Only the place of a sample is
 * late.
 *
 * The instructions that update the model, and those that deliver and handle an overflow, are not
 * counted, like those of a device that freezes its counters. Otherwise an event with a short period
 * would sample its own samples.
 *
 * The model receives no work while the handler is masked or the PMU is disabled. Otherwise an
 * overflow could not be handled before the next one, or before its event is gone.
 */
#include <linux/hardirq.h>
#include <linux/sched/task_stack.h>

#include "clock.h"
#include "compat/compat.h"
#include "interrupt.h"
#include "work.h"

/* Limit of the wait for an NMI, which arrives within a few instructions. */
#define MAX_SPINS 100000

/* Limits of the timer, in instructions. */
#define MIN_DELAY 1000 /* kernel instructions; a timer takes about three times as many */
#define MAX_DELAY 1000000
#define IDLE_DELAY 12500 /* an idle CPU executes nothing, so it need not look often */

/* A timer that is not set in the timer's handler fires at least so many instructions early. */
#define APPROACH 1200

/*
 * Limits of the estimated number of kernel instructions between the timer's handler and the task.
 * A larger rise comes from another interrupt.
 */
#define MAX_OVERHEAD 20000
#define MIN_RISE 64 /* if the timer fired before the task ran */
#define MAX_RISE 1000

/* Codes of the events on the page. Instructions are ticks of the clock instead. */
static const u16 codes[REFPMU_WORK_EVENTS] = {
	[REFPMU_WORK_BRANCHES] = REFPMU_EVENT_BRANCHES,
	[REFPMU_WORK_CALLS] = REFPMU_EVENT_CALLS,
	[REFPMU_WORK_RETURNS] = REFPMU_EVENT_RETURNS,
	[REFPMU_WORK_LOADS] = REFPMU_EVENT_LOADS,
	[REFPMU_WORK_STORES] = REFPMU_EVENT_STORES,
	[REFPMU_WORK_TAKEN] = REFPMU_EVENT_TAKEN,
	[REFPMU_WORK_L1D_LOAD_MISSES] = REFPMU_EVENT_L1D_LOAD_MISSES,
	[REFPMU_WORK_L1D_STORE_MISSES] = REFPMU_EVENT_L1D_STORE_MISSES,
	[REFPMU_WORK_L1I_MISSES] = REFPMU_EVENT_L1I_MISSES,
};

static bool is_counted(const struct refpmu_work *work, unsigned int event)
{
	return work->events & BIT_ULL(event);
}

static u64 executed(const struct refpmu_work *work, unsigned int event, unsigned int privilege)
{
	return READ_ONCE(work->counts[REFPMU_WORK_WORD(event, privilege)]);
}

static void snapshot(const struct refpmu_work *work, struct refpmu_work_counts *to)
{
	unsigned int event;

	for (event = 0; event < REFPMU_WORK_EVENTS; event++) {
		if (!is_counted(work, event))
			continue;
		to->n[event][REFPMU_USER] = executed(work, event, REFPMU_USER);
		to->n[event][REFPMU_KERNEL] = executed(work, event, REFPMU_KERNEL);
	}
}

/* The work so far is not for the model. On the CPU of @cpuc, interrupts off. */
void refpmu_work_begin(struct refpmu_cpu *cpuc)
{
	snapshot(&cpuc->work, &cpuc->work.passed);
	cpuc->clock_base = 1;
	refpmu_habit_begin(&cpuc->work.habit);
}

/*
 * Set the cause of an interrupt for an overflow at @privilege. @regs are the registers that an
 * interrupt has interrupted, or NULL. If they have the other privilege, the work is what came
 * before.
 */
static void set_cause(struct refpmu_cpu *cpuc, enum refpmu_privilege privilege,
		      struct pt_regs *regs)
{
	struct refpmu_cause *cause = &cpuc->cause;
	const bool user = privilege == REFPMU_USER;

	if (regs && user_mode(regs) == user) {
		cause->regs = *regs;
	} else if (user && current->mm && !(current->flags & PF_KTHREAD)) {
		cause->regs = *task_pt_regs(current);
	} else {
		memset(&cause->regs, 0, sizeof(cause->regs));
		perf_fetch_caller_regs(&cause->regs);
	}
	cause->origin = (struct refpmu_origin){
		.privilege = privilege,
		.ip = user && !user_mode(&cause->regs) ? 0 : instruction_pointer(&cause->regs),
		.time = refpmu_record_time(),
	};
	refpmu_compat_get_gprs(&cause->regs, &cause->origin.flags, cause->origin.gpr);
}

/* Deliver the interrupt and wait until it is handled. */
static void interrupt(struct refpmu_cpu *cpuc)
{
	unsigned int spins = 0;

	refpmu_raise_pmi(cpuc);
	/* An NMI does not interrupt another one. It arrives later, and finds the line up. */
	while (!in_nmi() && READ_ONCE(cpuc->raised) && spins++ < MAX_SPINS)
		cpu_relax();
}

/* Deliver the interrupt of an overflow, unless it comes later or never. */
static void overflowed(struct refpmu_cpu *cpuc)
{
	if (!refpmu_line(cpuc))
		return;
	if (refpmu_habit_loses_interrupt(&cpuc->work.habit))
		refpmu_model_drop_line(&cpuc->model);
	else
		interrupt(cpuc);
}

/* Return how much of @part comes before the end of a skid. */
static u64 until_skid_ends(const struct refpmu_habit_state *habit,
			   const struct refpmu_stimulus *part)
{
	if (!habit->skid || !part->clock || part->origin->privilege != habit->privilege)
		return part->n;
	return min(part->n, habit->skid * REFPMU_WORK_CPI);
}

/* Account for @done of @part. Return true if an interrupt is due. */
static bool is_due(struct refpmu_cpu *cpuc, const struct refpmu_stimulus *part,
		   const struct refpmu_model_step *step)
{
	struct refpmu_habit_state *habit = &cpuc->work.habit;

	if (habit->skid && part->clock && part->origin->privilege == habit->privilege) {
		habit->skid -= min(habit->skid, DIV_ROUND_UP(step->done, REFPMU_WORK_CPI));
		return !habit->skid;
	}
	if (step->overflowed)
		refpmu_habit_overflow(habit, part->origin->privilege);
	return step->overflowed;
}

/* Give the model @n pulses or ticks of @event, and handle each overflow before the next one. */
static void feed(struct refpmu_cpu *cpuc, unsigned int event, enum refpmu_privilege privilege,
		 u64 n, struct pt_regs *regs)
{
	struct refpmu_stimulus stimulus = {
		.clock = event == REFPMU_WORK_INSTRUCTIONS,
		.code = codes[event],
		.origin = &cpuc->cause.origin,
		.n = n * (event == REFPMU_WORK_INSTRUCTIONS ? REFPMU_WORK_CPI : 1),
	};
	struct refpmu_stimulus part;
	struct refpmu_model_step step;

	cpuc->work.rest = &stimulus;
	while (stimulus.n) {
		set_cause(cpuc, privilege, regs);
		/* The line is still up if nobody can handle the interrupt now, or if it is late. */
		stimulus.run_on = refpmu_model_line(&cpuc->model);
		if (!stimulus.run_on)
			cpuc->work.habit.skid = 0;
		part = stimulus;
		part.n = until_skid_ends(&cpuc->work.habit, &stimulus);
		step = refpmu_model_stimulate(&cpuc->model, &part);
		stimulus.n -= step.done;
		barrier(); /* the handler may take a part of the rest */
		if (is_due(cpuc, &part, &step))
			overflowed(cpuc);
		barrier();
	}
	cpuc->work.rest = NULL;
}

/**
 * refpmu_work_run_on() - Let the counters count the work that came after an overflow.
 * @cpuc: State of this CPU.
 *
 * A device counts on until its handler disables a counter. Call it before that, with the overflow
 * acknowledged and the counter reloaded. The function stops one event before the next overflow.
 *
 * Context: In the handler.
 */
void refpmu_work_run_on(struct refpmu_cpu *cpuc)
{
	struct refpmu_stimulus *rest = cpuc->work.rest;
	struct refpmu_stimulus part;

	if (!rest)
		return;
	part = *rest;
	part.run_on = false;
	part.n = min(rest->n, refpmu_model_distance(&cpuc->model, rest->clock, rest->code,
						    rest->origin->privilege) - 1);
	if (part.n)
		rest->n -= refpmu_model_stimulate(&cpuc->model, &part).done;
}

/*
 * General counters that stand still while the CPU idles. Stop them, or let them continue; @ctrl is
 * the value that GLOBAL_CTRL has otherwise.
 */
static void idle_stops(struct refpmu_cpu *cpuc, bool stop, u64 *ctrl)
{
	const u64 general = refpmu_low_bits(cpuc->model.params.general);

	if (!refpmu_habits.idle_stops || !is_idle_task(current))
		return;
	if (stop)
		refpmu_model_read(&cpuc->model, REFPMU_REG_GLOBAL_CTRL, ctrl);
	refpmu_model_write(&cpuc->model, REFPMU_REG_GLOBAL_CTRL, stop ? *ctrl & ~general : *ctrl);
}

/**
 * refpmu_work_catch_up() - Give the model the work since the last call.
 * @cpuc: State of this CPU.
 * @regs: Registers that the current interrupt has interrupted, or NULL.
 *
 * Context: On the CPU of @cpuc, interrupts off.
 */
void refpmu_work_catch_up(struct refpmu_cpu *cpuc, struct pt_regs *regs)
{
	struct refpmu_work *work = &cpuc->work;
	struct refpmu_work_counts now;
	unsigned int event, privilege;
	u64 n, ctrl = 0;

	/* A call for a register access of the handler, which interrupts another call. */
	if (cpuc->in_handler || work->busy)
		return;
	if (cpuc->masked || cpuc->disable_depth)
		return;
	work->busy = true;
	barrier();
	snapshot(work, &now);
	idle_stops(cpuc, true, &ctrl);
	/* Instructions come last, so that a sample of them has all their branches. */
	for (event = REFPMU_WORK_EVENTS; cpuc->clock_mode == REFPMU_CLOCK_AUTO && event--;) {
		for (privilege = REFPMU_USER; privilege <= REFPMU_KERNEL; privilege++) {
			if (!is_counted(work, event))
				continue;
			n = now.n[event][privilege] - work->passed.n[event][privilege];
			n = refpmu_habit_scale(&work->habit, event, privilege, n);
			feed(cpuc, event, privilege, n, regs);
		}
	}
	idle_stops(cpuc, false, &ctrl);
	snapshot(work, &work->passed);
	barrier();
	work->busy = false;
}

/**
 * refpmu_work_settle() - Deliver the overflows of work that the CPU has already executed.
 * @cpuc: State of this CPU.
 *
 * A device would have raised their interrupts before now. Call it before the handler is masked or
 * the PMU is disabled, which would delay the interrupts until an event may be gone.
 *
 * Context: Interrupts off.
 */
void refpmu_work_settle(struct refpmu_cpu *cpuc)
{
	if (!cpuc->work.counts || !cpuc->clock_base)
		return;
	refpmu_work_catch_up(cpuc, NULL);
	if (!cpuc->work.habit.skid || refpmu_habits.skid_survives || cpuc->in_handler ||
	    cpuc->work.busy || cpuc->masked || cpuc->disable_depth)
		return;
	cpuc->work.habit.skid = 0;
	overflowed(cpuc);
}

/*
 * Return the instructions until an overflow, or until the late interrupt of an earlier one, if all
 * of them have @privilege.
 */
static u64 instructions_left(const struct refpmu_cpu *cpuc, enum refpmu_privilege privilege)
{
	const u64 ticks = refpmu_model_distance(&cpuc->model, true, 0, privilege);
	u64 left = ticks == ~0ULL ? ticks : DIV_ROUND_UP(ticks, REFPMU_WORK_CPI);
	unsigned int event;

	/* Few instructions are more than one branch, load and so on. */
	for (event = 0; event < REFPMU_WORK_EVENTS; event++) {
		if (codes[event] && is_counted(&cpuc->work, event))
			left = min(left, refpmu_model_distance(&cpuc->model, false, codes[event],
							       privilege));
	}
	if (cpuc->work.habit.skid && cpuc->work.habit.privilege == privilege)
		left = min(left, cpuc->work.habit.skid);
	return left;
}

/*
 * Learn how many instructions of the kernel come between the end of the timer's handler and the
 * task that the next timer is for. They are nearly the same each time, unless another interrupt
 * comes between. The estimate should be high rather than low: a timer that fires a few instructions
 * late makes a sample as late, and after one that fires early the next one cannot come so soon.
 */
static void learn_overhead(struct refpmu_work *work)
{
	const u64 user = executed(work, REFPMU_WORK_INSTRUCTIONS, REFPMU_USER) - work->armed_user;
	u64 kernel;

	if (!work->armed_for)
		return;
	if (!user) {
		work->overhead += max_t(u64, work->overhead / 4, MIN_RISE);
		work->overhead = min_t(u64, work->overhead, MAX_OVERHEAD);
		return;
	}
	/* The hardware's shortest delay may have been longer. */
	if (work->armed_for < APPROACH / 2)
		return;
	kernel = max(work->armed_for + work->overhead, user) - user;
	if (kernel < work->overhead)
		work->overhead -= (work->overhead - kernel) / 8;
	else if (kernel < work->overhead + MAX_RISE)
		work->overhead = kernel;
}

/**
 * refpmu_work_delay() - Find when to look for the next overflow.
 * @cpuc: State of this CPU.
 *
 * Return: Nanoseconds from now, or ~0 if no counter can overflow.
 */
u64 refpmu_work_delay(struct refpmu_cpu *cpuc)
{
	struct refpmu_work *work = &cpuc->work;
	const u64 user = instructions_left(cpuc, REFPMU_USER);
	const u64 kernel = instructions_left(cpuc, REFPMU_KERNEL);
	u64 delay = min(user, kernel);

	work->armed_for = 0;
	if (delay == ~0ULL)
		return delay;
	delay = min_t(u64, delay, MAX_DELAY);
	if (is_idle_task(current))
		delay = max_t(u64, delay, IDLE_DELAY);
	/*
	 * The kernel's own instructions come first. They count unless the event excludes the
	 * kernel. Their number is known if the timer's handler sets the next timer. So the first
	 * timer is early, and the next one exact.
	 */
	if (kernel <= user) {
		delay = max_t(u64, delay, MIN_DELAY);
	} else if (work->in_timer) {
		work->armed_for = delay;
		work->armed_user = executed(work, REFPMU_WORK_INSTRUCTIONS, REFPMU_USER);
		delay += work->overhead;
	} else if (delay > 2 * APPROACH) {
		delay -= APPROACH;
	} else {
		delay += work->overhead;
	}
	return delay << work->shift;
}

/* The timer has fired. @regs are the registers that it interrupted. */
void refpmu_work_timer(struct refpmu_cpu *cpuc, struct pt_regs *regs)
{
	learn_overhead(&cpuc->work);
	refpmu_work_catch_up(cpuc, regs);
}
