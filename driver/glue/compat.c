// SPDX-License-Identifier: GPL-2.0-only
/* The way to perf_event_overflow(), which drivers outside the kernel image cannot link to. */
#include "compat.h"

#ifdef MODULE

#include <linux/kprobes.h>
#ifdef CONFIG_X86
#include <asm/ibt.h>
#endif

static int (*overflow)(struct perf_event *event, struct perf_sample_data *data,
		       struct pt_regs *regs);

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

int refpmu_compat_setup(void)
{
	struct kprobe probe = { .symbol_name = "perf_event_overflow" };
	int err = register_kprobe(&probe);

	if (err < 0) {
		pr_err("refpmu: no way to %s: %d\n", probe.symbol_name, err);
		return err;
	}
	overflow = (void *)function_entry((unsigned long)probe.addr);
	unregister_kprobe(&probe);
	return 0;
}

int refpmu_compat_overflow(struct perf_event *event, struct perf_sample_data *data,
			   struct pt_regs *regs)
{
	return overflow(event, data, regs);
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

#endif
