/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Registers of a call, and the kernel's structures, values and variables that the programs read. */
#ifndef PMUCONF_TOOLS_WATCH_BPF_KERNEL_H_
#define PMUCONF_TOOLS_WATCH_BPF_KERNEL_H_

#include <linux/bpf.h>
#include <linux/errno.h>
#include <linux/perf_event.h>

#ifdef __TARGET_ARCH_powerpc
#define __powerpc64__ 1 /* for struct pt_regs: the compiler for BPF does not define it */
#endif
#include <asm/ptrace.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "../watch.h"

#ifdef __TARGET_ARCH_arm64
#define REGISTERS struct user_pt_regs
#define ARGUMENT(ctx, n) ((ctx)->regs[n])
#define RESULT(ctx) ((ctx)->regs[0])
#define INTERRUPTS_ON(ctx) (!((ctx)->pstate & PSR_I_BIT))
#elif defined(__TARGET_ARCH_riscv)
#define REGISTERS struct user_regs_struct
#define ARGUMENT(ctx, n) ((n) == 0 ? (ctx)->a0 : (ctx)->a1)
#define RESULT(ctx) ((ctx)->a0)
/* The field `status` of struct pt_regs comes after the registers. */
#define INTERRUPTS_ON(ctx) (((const __u64 *)((ctx) + 1))[0] & 0x20)
#elif defined(__TARGET_ARCH_powerpc)
#define REGISTERS struct pt_regs
#define ARGUMENT(ctx, n) ((ctx)->gpr[3 + (n)])
#define RESULT(ctx) ((ctx)->gpr[3])
/* The kernel masks interrupts in software, bit 0, and rarely in the processor. */
#define INTERRUPTS_ON(ctx) (!((ctx)->softe & 1))
#else
#define REGISTERS struct pt_regs
#define ARGUMENT(ctx, n) ((n) == 0 ? (ctx)->rdi : (ctx)->rsi)
#define RESULT(ctx) ((ctx)->rax)
#define INTERRUPTS_ON(ctx) ((ctx)->eflags & (1 << 9))
#endif

/* Values of include/linux/perf_event.h. */
#define STOPPED 1
#define UPTODATE 2
#define EF_START 1
#define EF_RELOAD 2
#define EF_UPDATE 4
#define EF_MASK (EF_START | EF_RELOAD | EF_UPDATE)
#define TXN_ADD 1
#define CAP_NO_INTERRUPT 1

#define KERNEL __attribute__((preserve_access_index))

/* local64_t: its definition depends on the architecture. */
typedef struct {
} local64___watch;

struct hw_perf_event___watch {
	int idx;
	int state;
	__u64 sample_period;
	__u64 last_period;
	local64___watch prev_count;
	local64___watch period_left;
} KERNEL;

struct pmu___watch {
	__u32 type;
	int capabilities;
	int task_ctx_nr;
	int *pmu_disable_count;
	void *setup_aux;
#define X(name) void *name;
	WATCH_CALLBACKS(X)
#undef X
} KERNEL;

struct perf_event___watch {
	struct pmu___watch *pmu;
	local64___watch count;
	struct perf_event_attr attr;
	struct hw_perf_event___watch hw;
	int oncpu;
	__u64 id;
	void *destroy;
} KERNEL;

struct perf_sample_data___watch {
	__u64 period;
} KERNEL;

struct file___watch {
	void *private_data;
} KERNEL;

struct fdtable___watch {
	struct file___watch **fd;
} KERNEL;

struct files_struct___watch {
	struct fdtable___watch *fdt;
} KERNEL;

struct task_struct___watch {
	struct files_struct___watch *files;
} KERNEL;

/* Absent if kallsyms of this kernel has only functions. */
extern const void __per_cpu_offset __ksym __weak;

#endif /* PMUCONF_TOOLS_WATCH_BPF_KERNEL_H_ */
