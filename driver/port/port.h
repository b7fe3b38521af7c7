/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stimulus port of a PMU of the module: a file in /dev. The port runs each request on the CPU
 * that the request names; core/port_arg.h checks its argument. Each PMU has a table of the requests
 * that it supports, and every other request returns ENOTTY.
 */
#ifndef REFPMU_GLUE_PORT_H
#define REFPMU_GLUE_PORT_H

#include <linux/miscdevice.h>

#include "core/port_arg.h"
#include "journal.h"
#include "model/model.h"

struct refpmu_port;

/* A request while it is being processed. */
struct refpmu_port_request {
	struct refpmu_port *port;
	union refpmu_port_arg arg;
	struct task_struct *caller;
	u64 caller_ip;
	void *data; /* other data of the request, copied in or to be copied out */
	int (*run)(struct refpmu_port_request *req);
};

/*
 * A request that the PMU supports. It runs in the context of the caller (here) or on the CPU that
 * it names (run).
 */
struct refpmu_port_handler {
	unsigned int cmd; /* REFPMU_IOC_*; 0 ends the table */
	int (*check)(const union refpmu_port_arg *arg); /* additional checks of this PMU, or NULL */
	int (*in_caller)(struct refpmu_port_request *req);
	/* runs in process context, without migration */
	int (*run)(struct refpmu_port_request *req);
};

struct refpmu_port {
	struct miscdevice misc;
	const struct refpmu_port_handler *handlers;
	const struct cpumask *cpus; /* CPUs of the PMU; NULL: all. Other CPUs return ENXIO. */
	/* Return the journal of @cpu, for REFPMU_IOC_LOG. */
	struct refpmu_journal *(*journal)(struct refpmu_port *port, unsigned int cpu);
};

/* Create /dev/@name with the requests in @port->kinds. @name must remain valid. */
int refpmu_port_register(struct refpmu_port *port, const char *name);
void refpmu_port_unregister(struct refpmu_port *port);

/*
 * Call @req->run on @cpu, or on the current CPU. On the current CPU it runs in the context of this
 * task, so that the task's events count.
 */
int refpmu_port_run_on(int cpu, struct refpmu_port_request *req);

/* Call @req->run on every online CPU. Return the last error. */
int refpmu_port_run_on_all(struct refpmu_port_request *req);

/* Copy the branches of the request in, check them all, and call @req->run with them as data. */
int refpmu_port_branches(struct refpmu_port_request *req); /* use it as "in_caller" */

/* Return the branch that the entry of a request describes. */
static inline struct refpmu_branch refpmu_port_branch(const struct refpmu_branch_entry *entry)
{
	static_assert(REFPMU_BRANCH_JCC == 0 && REFPMU_BRANCH_FAR == 6);
	return (struct refpmu_branch){
		.from = entry->from,
		.to = entry->to,
		.kind = (enum refpmu_branch_kind)entry->kind,
		.cycles = entry->cycles,
		.mispredicted = entry->flags & REFPMU_BRANCH_MISPREDICTED,
		.in_tx = entry->flags & REFPMU_BRANCH_IN_TX,
		.abort = entry->flags & REFPMU_BRANCH_ABORT,
	};
}

/* Bypass the bus: the log shows the accesses of the driver, and this is an access of the test. */
static inline int refpmu_port_access(struct refpmu_model *model, struct refpmu_reg *reg)
{
	return reg->write ? refpmu_model_write(model, reg->reg, reg->value) :
			    refpmu_model_read(model, reg->reg, &reg->value);
}

/* Copy the log of a PMU that has a journal to user space. */
int refpmu_port_log(struct refpmu_port_request *req); /* use it as "here" */

#endif /* REFPMU_GLUE_PORT_H */
