// SPDX-License-Identifier: GPL-2.0-only
/* The way to functions of perf that drivers outside the kernel image cannot link to. */
#include "compat.h"

#ifdef MODULE

#include <linux/kprobes.h>
#ifdef CONFIG_X86
#include <asm/ibt.h>
#endif

static int (*overflow)(struct perf_event *event, struct perf_sample_data *data,
		       struct pt_regs *regs);
static void (*event_took)(u64 nanoseconds);
static void (*sched_cb_inc)(struct pmu *pmu);
static void (*sched_cb_dec)(struct pmu *pmu);
static void (*disable_inatomic)(struct perf_event *event);

static const struct {
	const char *name;
	void *function; /* a pointer to it */
} hidden[] = {
	{ "perf_event_overflow", &overflow },
	{ "perf_sample_event_took", &event_took },
	{ "perf_sched_cb_inc", &sched_cb_inc },
	{ "perf_sched_cb_dec", &sched_cb_dec },
	{ "perf_event_disable_inatomic", &disable_inatomic },
};

/*
 * A kprobe sits behind the landing pad for indirect branches where a function begins with one. The
 * call must go to the pad itself.
 */
static unsigned long function_entry(unsigned long addr)
{
#ifdef CONFIG_X86
	if (is_endbr(*(u32 *)(addr - ENDBR_INSN_SIZE)))
		return addr - ENDBR_INSN_SIZE;
#endif
	return addr;
}

static int find(const char *name, unsigned long *function)
{
	struct kprobe probe = { .symbol_name = name };
	int err = register_kprobe(&probe);

	if (err < 0) {
		pr_err("refpmu: no way to %s: %d\n", name, err);
		return err;
	}
	*function = function_entry((unsigned long)probe.addr);
	unregister_kprobe(&probe);
	return 0;
}

int refpmu_compat_setup(void)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(hidden) && !err; i++)
		err = find(hidden[i].name, hidden[i].function);
	return err;
}

int refpmu_compat_overflow(struct perf_event *event, struct perf_sample_data *data,
			   struct pt_regs *regs)
{
	return overflow(event, data, regs);
}

void refpmu_compat_event_took(u64 nanoseconds)
{
	event_took(nanoseconds);
}

void refpmu_compat_sched_cb_inc(struct pmu *pmu)
{
	sched_cb_inc(pmu);
}

void refpmu_compat_sched_cb_dec(struct pmu *pmu)
{
	sched_cb_dec(pmu);
}

void refpmu_compat_disable(struct perf_event *event)
{
	disable_inatomic(event);
}

#else /* linked into the kernel image */

int refpmu_compat_setup(void)
{
	return 0;
}

int refpmu_compat_overflow(struct perf_event *event, struct perf_sample_data *data,
			   struct pt_regs *regs)
{
	return perf_event_overflow(event, data, regs);
}

void refpmu_compat_event_took(u64 nanoseconds)
{
	perf_sample_event_took(nanoseconds);
}

void refpmu_compat_sched_cb_inc(struct pmu *pmu)
{
	perf_sched_cb_inc(pmu);
}

void refpmu_compat_sched_cb_dec(struct pmu *pmu)
{
	perf_sched_cb_dec(pmu);
}

void refpmu_compat_disable(struct perf_event *event)
{
	perf_event_disable_inatomic(event);
}

#endif
