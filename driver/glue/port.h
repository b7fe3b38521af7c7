/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stimulus port of any PMU of the module: a file in /dev, and how requests get to the
 * CPU that they name; core/port_arg says what is one. What a PMU offers is a table of kinds, the
 * rest is ENOTTY.
 */
#ifndef REFPMU_GLUE_PORT_H
#define REFPMU_GLUE_PORT_H

#include <linux/miscdevice.h>

#include "core/port_arg.h"
#include "log.h"

struct refpmu_port;

/* One request on its way. */
struct refpmu_port_request {
	struct refpmu_port *port;
	union refpmu_port_arg arg;
	struct task_struct *caller;
	u64 caller_ip;
	void *data; /* of the kind: what else was copied in, or will be copied out */
	int (*run)(struct refpmu_port_request *req);
};

/* A request is answered where its caller is (here), or on the CPU that it names (run). */
struct refpmu_port_kind {
	unsigned int cmd; /* REFPMU_IOC_*; 0 ends the table */
	int (*check)(const union refpmu_port_arg *arg); /* what only this one refuses */
	int (*here)(struct refpmu_port_request *req);
	int (*run)(struct refpmu_port_request *req); /* in process context, and it stays there */
};

struct refpmu_port {
	struct miscdevice misc;
	const struct refpmu_port_kind *kinds;
	const struct cpumask *cpus; /* that the PMU has; NULL: all. Others are ENXIO. */
	/* The journal of @cpu, for REFPMU_IOC_LOG. */
	struct refpmu_journal *(*journal)(struct refpmu_port *port, unsigned int cpu);
};

/* Make /dev/@name, which calls @port->kinds from now on; @name must last as long. */
int refpmu_port_register(struct refpmu_port *port, const char *name);
void refpmu_port_unregister(struct refpmu_port *port);

/* Call @req->run on @cpu, or on this one: in this task if it is there: its events see it then. */
int refpmu_port_run_on(int cpu, struct refpmu_port_request *req);

/* Call @req->run on every CPU that is online; the last error there was. */
int refpmu_port_run_everywhere(struct refpmu_port_request *req);

/* The answer of every kind of PMU that has a journal. */
int refpmu_port_log(struct refpmu_port_request *req); /* a "here" */

#endif /* REFPMU_GLUE_PORT_H */
