/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device of the tutorial. Each CPU has DEVICE_COUNTERS counters. An enabled counter counts the
 * calls of getppid() on its CPU. A kprobe stands in for the hardware.
 */
#ifndef TUTORIAL_DEVICE_H
#define TUTORIAL_DEVICE_H

#include <linux/kprobes.h>
#include <linux/percpu.h>

#define DEVICE_COUNTERS 4

struct device_counter {
	u64 value;
	bool enabled;
};

static DEFINE_PER_CPU(struct device_counter, device_counters[DEVICE_COUNTERS]);

static int device_getppid(struct kprobe *probe, struct pt_regs *regs)
{
	int i;

	for (i = 0; i < DEVICE_COUNTERS; i++) {
		if (this_cpu_read(device_counters[i].enabled))
			this_cpu_inc(device_counters[i].value);
	}
	return 0;
}

static struct kprobe device_probe = {
	.symbol_name = IS_ENABLED(CONFIG_ARM64) ? "__arm64_sys_getppid" : "__x64_sys_getppid",
	.pre_handler = device_getppid,
};

/* Switch the device on and off. */
static inline int device_open(void)
{
	return register_kprobe(&device_probe);
}

static inline void device_close(void)
{
	unregister_kprobe(&device_probe);
}

/* Registers of counter @i of this CPU. A counter keeps its value while it is disabled. */
static inline u64 device_read(int i)
{
	return this_cpu_read(device_counters[i].value);
}

static inline void device_enable(int i, bool enabled)
{
	this_cpu_write(device_counters[i].enabled, enabled);
}

#endif /* TUTORIAL_DEVICE_H */
