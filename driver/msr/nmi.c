// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interrupt of the monitor: an NMI, like that of a local APIC. The handler first_handler() runs
 * first and gives the other handlers the registers at the time of the event, in place of those at
 * the time of the NMI. The handler last_handler() runs last and checks the result.
 */
#include <linux/bitops.h>
#include <linux/sched/clock.h>
#include <linux/sched/task_stack.h>

#include <asm/apic.h>
#include <asm/nmi.h>

#include "msr.h"

bool refpmu_pmi_is_nmi = true;

/* State of an NMI that is being handled. */
struct service {
	struct pt_regs regs; /* registers that the NMI interrupted */
	bool due; /* the line was up: the driver has an overflow to handle */
	bool acknowledged; /* the driver has cleared status */
};

static DEFINE_PER_CPU(struct service, services);

/* raised must be set before the NMI is sent: an NMI without it belongs to another source. */
static void deliver(struct refpmu_cpu *cpuc)
{
	WRITE_ONCE(cpuc->raised, true);
	apic->send_IPI(smp_processor_id(), NMI_VECTOR);
}

void refpmu_raise_pmi(struct refpmu_cpu *cpuc)
{
	cpuc->runs = 0;
	deliver(cpuc);
}

void refpmu_raise_pmi_in_irq(struct refpmu_cpu *cpuc)
{
	refpmu_raise_pmi(cpuc);
}

/*
 * Get the registers at the time of the event. The port knows only a part of the registers. In that
 * case, use those that the NMI interrupted.
 */
static void cause_regs(struct refpmu_cause *cause, struct pt_regs *to)
{
	const bool whole = cause->regs.flags;

	if (cause->origin.privilege != REFPMU_USER || user_mode(&cause->regs))
		*to = whole ? cause->regs : *to;
	else if (current->mm && !(current->flags & PF_KTHREAD))
		*to = *task_pt_regs(current);
	else
		refpmu_compat_user_regs(to);
	if (cause->origin.ip)
		instruction_pointer_set(to, cause->origin.ip);
}

/*
 * For a monitor without a status register, an overflow is a counter whose top bit is clear. Return
 * true if there is one, and clear the model's status bits.
 */
static bool has_overflow(struct refpmu_model *m)
{
	u64 status = 0, value = 0, left;
	bool any = false;

	refpmu_model_read(m, REFPMU_REG_GLOBAL_STATUS, &status);
	for (left = status; left; left &= left - 1) {
		refpmu_model_read(m, REFPMU_REG_PMC(__ffs64(left)), &value);
		any |= !(value >> (m->params.width - 1));
	}
	refpmu_model_write(m, REFPMU_REG_GLOBAL_STATUS_RESET, status);
	return any;
}

/*
 * Lower the line: an overflow interrupts once, whether the driver acknowledges it or not. Return
 * false if no overflow is pending.
 */
static bool lower_line(struct refpmu_cpu *cpuc)
{
	if (!refpmu_line(cpuc))
		return false;
	refpmu_model_drop_line(&cpuc->model);
	return !refpmu_msr_lacks_status(refpmu_msr_processor.kind) || has_overflow(&cpuc->model);
}

static int first_handler(unsigned int type, struct pt_regs *regs)
{
	struct refpmu_cpu *cpuc = this_cpu_ptr(&refpmu_msr_cpus);
	struct service *service = this_cpu_ptr(&services);

	if (!cpuc->raised)
		return NMI_DONE;
	WRITE_ONCE(cpuc->raised, false);
	cpuc->runs++;
	cpuc->in_handler = true;
	service->due = lower_line(cpuc);
	service->acknowledged = false;
	service->regs = *regs;
	cause_regs(&cpuc->cause, regs);
	return NMI_DONE;
}

/* The driver has cleared the status. On a monitor without a status register this never happens. */
void refpmu_msr_acknowledged(void)
{
	this_cpu_write(services.acknowledged, true);
}

/*
 * Claim an interrupt that has no overflow or no event: a test has injected it. All others must be
 * claimed by the driver, and if the driver does not, the kernel prints a warning. Without a status
 * register, AMD's driver claims unknown NMIs for 100 ms after the last one that it recognized. A
 * warning would then depend on timing, so all interrupts of such a monitor are claimed here.
 */
static int last_handler(unsigned int type, struct pt_regs *regs)
{
	struct refpmu_cpu *cpuc = this_cpu_ptr(&refpmu_msr_cpus);
	struct service *service = this_cpu_ptr(&services);
	const bool no_status = refpmu_msr_lacks_status(refpmu_msr_processor.kind);

	if (!cpuc->in_handler)
		return NMI_DONE;
	*regs = service->regs;
	local64_inc(&cpuc->journal.pmi);
	if (service->due && (service->acknowledged || no_status))
		local64_inc(&cpuc->journal.pmi_claimed);
	refpmu_clock_resume(cpuc, local_clock());
	cpuc->in_handler = false;
	if (refpmu_line(cpuc) && cpuc->runs < REFPMU_IRQ_RUNS)
		deliver(cpuc);
	if (!cpuc->arming)
		irq_work_queue(&cpuc->pmi);
	return service->due && cpuc->n_events && !no_status ? NMI_DONE : NMI_HANDLED;
}

int refpmu_msr_nmi_setup(void)
{
	return register_nmi_handler(NMI_LOCAL, first_handler, NMI_FLAG_FIRST, "refpmu_msr") ?:
	       register_nmi_handler(NMI_LOCAL, last_handler, 0, "refpmu_msr");
}
