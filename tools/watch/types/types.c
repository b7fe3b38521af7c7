// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Has every type that tools/watch/bpf/kernel.h declares, so that pahole can convert the debug
 * information to BTF. The code never runs.
 */
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/perf_event.h>
#include <linux/sched.h>

struct watched_types {
	struct perf_event event;
	struct pmu pmu;
	struct perf_sample_data sample;
	struct task_struct task;
	struct files_struct files;
	struct fdtable table;
	struct file file;
};

static struct watched_types *watched_types __used;
