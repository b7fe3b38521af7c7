/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations that the files of refpmu_trace share: per-CPU device, transaction and buffer. */
#ifndef REFPMU_TRACE_H
#define REFPMU_TRACE_H

#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

#include "core/window.h"
#include "port/journal.h"
#include "model/model.h"
#include "port/port.h"

#define REFPMU_TRACE_RECORD sizeof(struct refpmu_bts_record)

/* The AUX area of an event, as setup_aux received it. */
struct refpmu_trace_buffer {
	void *base; /* its pages, mapped contiguously: the device uses linear addresses */
	u64 size;
	bool snapshot; /* new records overwrite old ones */
};

/*
 * State of one CPU. Only code on that CPU uses it, with interrupts off. The exception is
 * refpmu_trace_switch(), which an NMI of another event may call at any time.
 */
struct refpmu_trace_cpu {
	int cpu;
	struct refpmu_model model; /* the driver accesses it only through its registers */
	struct refpmu_ds ds; /* the device reads and writes it */

	struct perf_event *event; /* event that was added on this CPU */
	u64 control; /* DEBUGCTL while the event records; 0 otherwise */

	/* The open transaction. */
	struct perf_output_handle handle;
	struct refpmu_trace_buffer *buffer; /* NULL: no transaction is open */
	struct refpmu_window window;

	/* The interrupt line. */
	struct irq_work pmi;
	unsigned int runs; /* handler runs since the line was raised */
	bool line_held; /* the stimulus port holds the line back */

	struct refpmu_journal journal;
};

/* Totals of all CPUs: event_init and destroy are not tied to a CPU. */
struct refpmu_trace_totals {
	atomic64_t inits;
	atomic64_t destroys;
	atomic64_t live; /* events that event_init accepted and that are not destroyed yet */
};

/* cpus.c */
extern struct refpmu_trace_cpu __percpu *refpmu_trace_cpus;
extern struct refpmu_trace_totals refpmu_trace_totals;
int refpmu_trace_cpus_setup(void);
void refpmu_trace_cpus_teardown(void);

/* pmu.c */
int refpmu_trace_register(void);
void refpmu_trace_unregister(void);

/* irq.c: the interrupt */
void refpmu_trace_raise(struct refpmu_trace_cpu *t);
bool refpmu_trace_line(const struct refpmu_trace_cpu *t);
void refpmu_trace_irq_setup(struct refpmu_trace_cpu *t);

/* output.c: transactions of the AUX area */
void *refpmu_trace_setup_aux(struct perf_event *event, void **pages, int nr_pages, bool overwrite);
void refpmu_trace_free_aux(void *aux);
void *refpmu_trace_memory(void *context, u64 address, u64 size);
bool refpmu_trace_open(struct refpmu_trace_cpu *t, struct perf_event *event);
bool refpmu_trace_close(struct refpmu_trace_cpu *t);
void refpmu_trace_switch(struct refpmu_trace_cpu *t, const struct perf_event *event);
u64 refpmu_trace_read(struct refpmu_trace_cpu *t, u32 reg);
void refpmu_trace_write(struct refpmu_trace_cpu *t, u32 reg, u64 value);

/* port.c: /dev/refpmu_trace */
int refpmu_trace_port_register(const char *name);
void refpmu_trace_port_unregister(void);

#endif /* REFPMU_TRACE_H */
