// SPDX-License-Identifier: GPL-2.0-only
/* The monitors of all CPUs, and the stimulus port. */
#include <linux/cpuhotplug.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/instruction_pointer.h>
#include <linux/kallsyms.h>
#include <linux/sched/task_stack.h>

#include "msr.h"

#define PORT "refpmu_msr"

struct refpmu_device refpmu_msr_device = {
	.name = PORT,
	.cpus = &refpmu_msr_cpus,
};

/* Do the work that an NMI handler could not do. */
static void resume(struct irq_work *work)
{
	struct refpmu_cpu *cpuc = container_of(work, struct refpmu_cpu, pmi);

	if (cpuc->cpu == smp_processor_id())
		refpmu_clock_arm(cpuc);
}

static int setup_cpu(unsigned int cpu)
{
	struct refpmu_cpu *cpuc = per_cpu_ptr(&refpmu_msr_cpus, cpu);

	cpuc->dev = &refpmu_msr_device;
	cpuc->cpu = cpu;
	cpuc->clock_mode = REFPMU_CLOCK_MANUAL;
	cpuc->pmi = IRQ_WORK_INIT_HARD(resume);
	refpmu_clock_setup(cpuc);
	return refpmu_journal_setup(&cpuc->journal);
}

static int online(unsigned int cpu)
{
	struct refpmu_cpu *cpuc = per_cpu_ptr(&refpmu_msr_cpus, cpu);

	cpuc->clock_mode = REFPMU_CLOCK_AUTO;
	cpuc->clock_base = 0;
	return 0;
}

/* The registers retain their values while a CPU is offline. The clock is stopped. */
static int offline(unsigned int cpu)
{
	struct refpmu_cpu *cpuc = per_cpu_ptr(&refpmu_msr_cpus, cpu);

	cpuc->line_held = false;
	cpuc->clock_mode = REFPMU_CLOCK_MANUAL;
	irq_work_sync(&cpuc->pmi);
	hrtimer_cancel(&cpuc->timer);
	return 0;
}

/* The handlers of refpmu's port for pulses and for reset. */
static const struct refpmu_port_handler *pulses, *resets;

/* Choose the address of an event if the test does not set one: a record always has an address. */
static u64 default_address(u32 privilege)
{
	if (privilege == REFPMU_USER && current->mm && !(current->flags & PF_KTHREAD))
		return instruction_pointer(task_pt_regs(current));
	return privilege == REFPMU_USER ? 0 : _THIS_IP_;
}

/* Generate a pulse. The test uses the event code of the driver, so convert it to the model's. */
static int pulse(struct refpmu_port_request *req)
{
	const u32 code = req->arg.pulse.event;
	const u64 ip = req->arg.pulse.ip;
	int err;

	req->arg.pulse.event = refpmu_msr_code(refpmu_msr_processor.kind, code);
	req->arg.pulse.ip = ip ?: default_address(req->arg.pulse.privilege);
	err = pulses->in_caller(req);
	req->arg.pulse.event = code;
	req->arg.pulse.ip = ip;
	return err;
}

/* Clear registers that a test has written, on CPUs without events. */
static int clear_registers(struct refpmu_port_request *req)
{
	struct refpmu_cpu *cpuc = this_cpu_ptr(&refpmu_msr_cpus);
	const struct refpmu_model_params *params = &cpuc->model.params;
	const u64 all = refpmu_low_bits(params->general);
	unsigned long irqs;
	unsigned int i;
	u64 status = 0;

	local_irq_save(irqs);
	for (i = 0; i < params->general && !cpuc->n_events; i++)
		refpmu_model_write(&cpuc->model, REFPMU_REG_EVTSEL(i), 0);
	if (params->fixed && !cpuc->n_events)
		refpmu_model_write(&cpuc->model, REFPMU_REG_FIXED_CTR_CTRL, 0);
	refpmu_model_read(&cpuc->model, REFPMU_REG_GLOBAL_STATUS, &status);
	if (!cpuc->n_events)
		refpmu_model_write(&cpuc->model, REFPMU_REG_GLOBAL_STATUS_RESET, status);
	if (refpmu_msr_lacks_status(refpmu_msr_processor.kind))
		refpmu_model_write(&cpuc->model, REFPMU_REG_GLOBAL_CTRL, all);
	local_irq_restore(irqs);
	return 0;
}

/*
 * The set of counters for which AMD's driver has already warned about an overflow without an event.
 * It warns once for each, so a reset clears the set, to let each test see the warning. NULL: this
 * kernel has no such variable.
 */
static atomic64_t *status_warned;

static int reset(struct refpmu_port_request *req)
{
	int err;

	if (status_warned)
		atomic64_set(status_warned, 0);
	req->run = clear_registers;
	err = refpmu_port_run_on_all(req);
	return err ?: resets->in_caller(req);
}

/*
 * Register the port: the requests of refpmu's port, with other handlers for pulses and for reset.
 */
static int __init setup_port(void)
{
	static struct refpmu_port_handler handlers[16];
	unsigned int i;

	for (i = 0; refpmu_stimulus_handlers[i].cmd; i++) {
		if (WARN_ON(i + 1 == ARRAY_SIZE(handlers)))
			return -ENOSPC;
		handlers[i] = refpmu_stimulus_handlers[i];
		if (handlers[i].cmd == REFPMU_IOC_PULSE) {
			pulses = &refpmu_stimulus_handlers[i];
			handlers[i].in_caller = pulse;
		} else if (handlers[i].cmd == REFPMU_IOC_RESET) {
			resets = &refpmu_stimulus_handlers[i];
			handlers[i].in_caller = reset;
		}
	}
	status_warned = (atomic64_t *)kallsyms_lookup_name("status_warned.0");
	refpmu_msr_device.port.handlers = handlers;
	refpmu_msr_device.port.journal = refpmu_stimulus_journal;
	return refpmu_port_register(&refpmu_msr_device.port, refpmu_msr_device.name);
}

/* Return the driver's PMU, found by opening an event; NULL if the driver has found no monitor. */
static struct pmu *__init driver(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW,
		.size = sizeof(attr),
		.disabled = true,
	};
	struct perf_event *event = perf_event_create_kernel_counter(&attr, 0, NULL, NULL, NULL);
	struct pmu *pmu;

	if (IS_ERR(event))
		return NULL;
	pmu = event->pmu;
	perf_event_release_kernel(event);
	return pmu;
}

/* This code is built into the kernel. It does not undo its setup after an error. */
static int __init setup(void)
{
	struct pmu *pmu;
	unsigned int cpu;
	int err = 0;

	if (!refpmu_msr_active())
		return 0;
	refpmu_msr_device.params = refpmu_msr_processor.params;
	refpmu_msr_device.caps.min_period = 1;
	for_each_possible_cpu(cpu)
		err = err ?: setup_cpu(cpu);
	err = err ?: refpmu_msr_nmi_setup();
	if (err)
		return err;
	err = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perf/refpmu_msr:online", online, offline);
	if (err < 0)
		return err;
	pmu = driver();
	if (!pmu) {
		pr_err("refpmu_msr: the kernel has found no performance monitor\n");
		return -ENODEV;
	}
	return refpmu_msr_watch(pmu) ?: setup_port();
}
late_initcall(setup);
