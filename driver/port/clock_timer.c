// SPDX-License-Identifier: GPL-2.0-only
/* The timer of the automatic clock: at an overflow of a counter it raises the interrupt. */
#include <linux/sched/clock.h>

#include <asm/irq_regs.h>

#include "clock.h"
#include "clock_timer.h"
#include "compat/compat.h"
#include "interrupt.h"
#include "work.h"

/* Advance the clock up to an overflow. Samples get the registers that the timer interrupted. */
static void handle_timer(struct refpmu_cpu *cpuc, struct pt_regs *regs)
{
	struct refpmu_cause *cause = &cpuc->cause;
	const u64 now = local_clock();
	const struct refpmu_stimulus stimulus = {
		.clock = true,
		.n = refpmu_clock_elapsed(cpuc, now),
		.origin = &cause->origin,
	};
	struct refpmu_model_step step;

	if (!stimulus.n || refpmu_clock_stands_still(cpuc) || cpuc->line_held)
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
	cpuc->work.in_timer = true;
	if (cpuc->work.counts)
		refpmu_work_timer(cpuc, regs);
	else
		handle_timer(cpuc, regs);
	cpuc->arming = false;
	barrier();
	refpmu_clock_arm(cpuc);
	cpuc->work.in_timer = false;
	return HRTIMER_NORESTART;
}

/*
 * Must come before every other function of the clock. There is no teardown besides
 * hrtimer_cancel().
 */
void refpmu_clock_setup(struct refpmu_cpu *cpuc)
{
	refpmu_compat_timer(&cpuc->timer, refpmu_timer, HRTIMER_MODE_REL_PINNED_HARD);
}
