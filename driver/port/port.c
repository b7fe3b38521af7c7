// SPDX-License-Identifier: GPL-2.0-only
/* The front end of the stimulus ports: check permissions, and run a request on its CPU. */
#include <linux/capability.h>
#include <linux/compat.h>
#include <linux/cpu.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "compat/compat.h"
#include "port.h"

static long run_request(void *arg)
{
	struct refpmu_port_request *req = arg;

	return req->run(req);
}

int refpmu_port_run_on(int cpu, struct refpmu_port_request *req)
{
	const struct cpumask *cpus = req->port->cpus;
	long err;

	if (cpu < REFPMU_CPU_CURRENT)
		return -EINVAL;
	if (cpu >= (int)nr_cpu_ids)
		return -ENXIO;
	migrate_disable();
	if (cpu == REFPMU_CPU_CURRENT)
		cpu = raw_smp_processor_id();
	if (cpus && !cpumask_test_cpu(cpu, cpus)) {
		migrate_enable();
		return -ENXIO;
	}
	if (cpu == raw_smp_processor_id()) {
		err = run_request(req);
		migrate_enable();
		return err;
	}
	migrate_enable();
	err = refpmu_compat_call_on_cpu(cpu, run_request, req);
	return err == -ENODEV ? -ENXIO : err;
}

/* Offline CPUs (-ENXIO) are skipped: the hotplug callbacks reset them anyway. */
int refpmu_port_run_on_all(struct refpmu_port_request *req)
{
	int cpu, err = 0;

	for_each_possible_cpu(cpu) {
		const int failed = refpmu_port_run_on(cpu, req);

		if (failed && failed != -ENXIO)
			err = failed;
	}
	return err;
}

static int run_log(struct refpmu_port_request *req)
{
	struct refpmu_log *log = &req->arg.log;
	unsigned long irqs;

	local_irq_save(irqs);
	log->count = refpmu_journal_copy(req->port->journal(req->port, smp_processor_id()),
					 req->data, log->capacity);
	local_irq_restore(irqs);
	return 0;
}

/*
 * The request runs with interrupts off. Memory is therefore allocated before it, and the entries
 * are copied to user space after it.
 */
int refpmu_port_log(struct refpmu_port_request *req)
{
	struct refpmu_log *log = &req->arg.log;
	struct refpmu_log_entry *entries;
	int err;

	log->capacity = min_t(u32, log->capacity, REFPMU_LOG_ENTRIES);
	entries = kvcalloc(log->capacity + 1, sizeof(*entries), GFP_KERNEL);
	if (!entries)
		return -ENOMEM;
	req->data = entries;
	req->run = run_log;
	err = refpmu_port_run_on(log->cpu, req);
	if (!err && copy_to_user(u64_to_user_ptr(log->entries), entries,
				 log->count * sizeof(*entries)))
		err = -EFAULT;
	kvfree(entries);
	return err;
}

int refpmu_port_branches(struct refpmu_port_request *req)
{
	struct refpmu_branches *branches = &req->arg.branches;
	struct refpmu_branch_entry *entries;
	int err = 0;

	branches->done = 0;
	entries = kvcalloc(branches->count + 1, sizeof(*entries), GFP_KERNEL);
	if (!entries)
		return -ENOMEM;
	if (copy_from_user(entries, u64_to_user_ptr(branches->entries),
			   branches->count * sizeof(*entries)))
		err = -EFAULT;
	if (!err)
		err = refpmu_port_check_entries(entries, branches->count);
	if (!err) {
		req->data = entries;
		err = refpmu_port_run_on(branches->cpu, req);
	}
	kvfree(entries);
	return err;
}

static int execute(const struct refpmu_port_handler *handler, struct refpmu_port_request *req)
{
	req->run = handler->run;
	if (handler->in_caller)
		return handler->in_caller(req);
	return refpmu_port_run_on(req->arg.head.cpu, req);
}

/*
 * Copy the argument back even after an error: its field "done" has the number of events that
 * happened.
 */
static long port_ioctl(struct file *file, unsigned int cmd, unsigned long user)
{
	struct refpmu_port *port = container_of(file->private_data, struct refpmu_port, misc);
	struct refpmu_port_request req = {
		.port = port,
		.caller = current,
		.caller_ip = instruction_pointer(task_pt_regs(current)),
	};
	const struct refpmu_port_handler *handler = port->handlers;
	const size_t size = _IOC_SIZE(cmd);
	int err;

	while (handler->cmd && handler->cmd != cmd)
		handler++;
	if (!handler->cmd)
		return -ENOTTY;
	if (copy_from_user(&req.arg, (void __user *)user, size))
		return -EFAULT;
	err = refpmu_port_check(cmd, &req.arg);
	if (!err && handler->check)
		err = handler->check(&req.arg);
	if (err)
		return err;
	err = execute(handler, &req);
	if (_IOC_DIR(cmd) & _IOC_READ && copy_to_user((void __user *)user, &req.arg, size))
		return -EFAULT;
	return err;
}

/*
 * The file mode can be changed, but the port must remain restricted to administrators. misc_open()
 * has stored the miscdevice in file->private_data.
 */
static int port_open(struct inode *inode, struct file *file)
{
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	return nonseekable_open(inode, file);
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = port_open,
	.unlocked_ioctl = port_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

int refpmu_port_register(struct refpmu_port *port, const char *name)
{
	port->misc = (struct miscdevice){
		.minor = MISC_DYNAMIC_MINOR,
		.name = name,
		.fops = &fops,
		.mode = 0600,
	};
	return misc_register(&port->misc);
}

void refpmu_port_unregister(struct refpmu_port *port)
{
	misc_deregister(&port->misc);
}
