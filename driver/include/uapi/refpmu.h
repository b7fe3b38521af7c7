/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-3-Clause */
/*
 * The stimulus port of a reference PMU: ioctls on the file in /dev that is named like the PMU
 * (/dev/refpmu, /dev/refpmu_uncore, ...; mode 0600, CAP_SYS_ADMIN). A request that a PMU does not
 * support returns ENOTTY.
 *
 * Every argument begins with its own size in bytes. An unknown size, an undefined flag or a nonzero
 * reserved field returns EINVAL and changes nothing. @cpu is the CPU whose PMU the request is for;
 * REFPMU_CPU_CURRENT is the caller's CPU. A request for another CPU runs in a kernel worker there,
 * so the caller's per-task events do not count it. A CPU that is offline or that does not belong to
 * the PMU returns ENXIO.
 */
#ifndef _UAPI_REFPMU_H
#define _UAPI_REFPMU_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define REFPMU_CPU_CURRENT (-1)

/* Privilege of a stimulus. The USR and OS bits of the event selects filter by it. */
#define REFPMU_PRIV_USER 0
#define REFPMU_PRIV_KERNEL 1

/*
 * Registers for samples (PERF_SAMPLE_REGS_INTR), in this order: rax rcx rdx rbx rsp rbp rsi rdi
 * r8-r15.
 */
struct refpmu_regs {
	__u64 flags;
	__u64 gpr[16];
};

/*
 * Generate @n events of @event on @cpu. The device stops at each overflow until the driver has
 * acknowledged the status, so no counter counts on after an unhandled overflow. With @skid, up to
 * that many further events are counted before the interrupt line rises. The request returns EIO if
 * the driver does not handle an interrupt within one second; @done then has the number of events
 * that happened. While the line is held (REFPMU_IOC_LINE), overflows do not stop the device.
 */
struct refpmu_pulse {
	__u32 size;
	__s32 cpu;
	__u32 event; /* event code in bits 0-7, unit mask in bits 8-15 */
	__u32 privilege; /* REFPMU_PRIV_* */
	__u64 n;
	__u64 ip; /* instruction pointer for samples; 0: that of the caller */
	__u64 addr; /* data address for samples */
	__u32 skid;
	__u32 per_pulse; /* occurrences in the cycle of each event, up to 63; 0 means 1 */
	/* cycles that each event takes, up to 65535: for load latency, and for samples */
	__u32 latency;
	__u32 reserved;
	__u64 source; /* data source for samples, as PERF_MEM_* bits */
	__u64 response; /* off-core request and response bits */
	__u64 regs; /* user pointer to struct refpmu_regs; 0: all are zero */
	__u64 done; /* out: events that happened */
};

#define REFPMU_CLOCK_AUTO 0 /* one tick for each nanosecond of time */
#define REFPMU_CLOCK_MANUAL 1 /* ticks come only from REFPMU_IOC_ADVANCE */

/*
 * Select the clock of @cpu. A tick is one cycle. An instruction retires every 2 ticks, and
 * ref-cycles counts every 4 ticks.
 */
struct refpmu_clock {
	__u32 size;
	__s32 cpu;
	__u32 mode; /* REFPMU_CLOCK_* */
	__u32 reserved;
};

/* Advance the manual clock of @cpu by @ticks; stops at overflows like a pulse. EBUSY in AUTO. */
struct refpmu_advance {
	__u32 size;
	__s32 cpu;
	__u32 privilege;
	__u32 skid;
	__u64 ticks;
	__u64 ip;
	__u64 done; /* out: ticks that passed */
};

#define REFPMU_BRANCH_MISPREDICTED 0x1
#define REFPMU_BRANCH_IN_TX 0x2
#define REFPMU_BRANCH_ABORT 0x4

/* One branch. */
struct refpmu_branch_entry {
	__u64 from;
	__u64 to;
	/*
	 * 0 jcc, 1 relative call, 2 indirect call, 3 return, 4 indirect jump, 5 relative jump,
	 * 6 far
	 */
	__u32 kind;
	__u32 flags; /* REFPMU_BRANCH_* */
	__u32 cycles; /* since the previous branch, up to 65535 */
	__u32 privilege; /* REFPMU_PRIV_* of the target */
};

/*
 * Generate the branches in @entries on @cpu, one after the other. Each is an event of the branch
 * codes and is written to the branch records. The device stops at overflows and full buffers like
 * for a pulse. A request has at most REFPMU_BRANCHES_MAX branches.
 */
#define REFPMU_BRANCHES_MAX 65536
struct refpmu_branches {
	__u32 size;
	__s32 cpu;
	__u64 entries; /* user pointer to struct refpmu_branch_entry[] */
	__u32 count;
	__u32 reserved;
	__u64 done; /* out: branches that happened */
};

/* Read or write one model register (numbers: model/registers.h); EINVAL if it does not exist. */
struct refpmu_reg {
	__u32 size;
	__s32 cpu;
	__u32 reg;
	__u32 write; /* 0 read, 1 write */
	__u64 value; /* in or out */
};

/*
 * Hold back the interrupt line of @cpu, or release it. A pending interrupt is then raised at once.
 */
struct refpmu_line {
	__u32 size;
	__s32 cpu;
	__u32 hold;
	__u32 reserved;
};

/*
 * Raise an interrupt on @cpu with @status ORed into the global status, independent of the counters.
 * @status 0 is a spurious interrupt.
 */
struct refpmu_inject {
	__u32 size;
	__s32 cpu;
	__u64 status;
	__u32 runs; /* out: handler runs that this caused (bounded; a storm returns the bound) */
	__u32 claimed; /* out: handler runs that claimed the interrupt */
};

/* Type of a log entry. */
enum refpmu_log_kind {
	REFPMU_LOG_CALL = 1, /* perf called a callback: @what is enum refpmu_call, @arg its flags */
	REFPMU_LOG_READ = 2, /* the driver read a register: @what register, @arg value */
	REFPMU_LOG_WRITE = 3, /* the driver wrote a register: @what register, @arg value */
	/* the handler ran: @arg status that it read, @what 1 if it claimed the interrupt */
	REFPMU_LOG_PMI = 4,
};

/* The count of SNAPSHOT_AUX is always 0: no PMU of the module has that callback. */
enum refpmu_call {
	REFPMU_CALL_ENABLE,
	REFPMU_CALL_DISABLE,
	REFPMU_CALL_EVENT_INIT,
	REFPMU_CALL_DESTROY,
	REFPMU_CALL_ADD,
	REFPMU_CALL_DEL,
	REFPMU_CALL_START,
	REFPMU_CALL_STOP,
	REFPMU_CALL_READ,
	REFPMU_CALL_START_TXN,
	REFPMU_CALL_COMMIT_TXN,
	REFPMU_CALL_CANCEL_TXN,
	REFPMU_CALL_CHECK_PERIOD,
	REFPMU_CALL_SCHED_TASK,
	REFPMU_CALL_SWAP_TASK_CTX,
	REFPMU_CALL_EVENT_MAPPED,
	REFPMU_CALL_EVENT_UNMAPPED,
	REFPMU_CALL_SETUP_AUX,
	REFPMU_CALL_FREE_AUX,
	REFPMU_CALL_SNAPSHOT_AUX,
	REFPMU_CALL_MAX,
};

struct refpmu_log_entry {
	__u32 kind; /* enum refpmu_log_kind */
	__u32 what;
	__u64 arg;
	__u64 event; /* id of the event, unique within one boot; 0: none */
	/* number of the entry since the last reset, by CPU; a gap means overwritten entries */
	__u64 seq;
};

/*
 * Copy the newest entries of @cpu's log, oldest first, to @entries, which has space for @capacity.
 */
struct refpmu_log {
	__u32 size;
	__s32 cpu;
	__u64 entries; /* user pointer to struct refpmu_log_entry[] */
	__u32 capacity;
	__u32 count; /* out */
};

/*
 * Counts since load or REFPMU_IOC_RESET. live_events, used and disable_depth are the current state.
 */
struct refpmu_stats {
	__u32 size;
	__s32 cpu;
	__u64 calls[32]; /* indexed by enum refpmu_call (EVENT_INIT and DESTROY: all CPUs) */
	/* handler runs; for a PMU without interrupt: timer runs that read the counters */
	__u64 pmi;
	__u64 pmi_claimed;
	__u64 overflows; /* samples passed to perf */
	__u64 live_events; /* events accepted by event_init and not destroyed, all CPUs */
	__u64 used; /* counters in use: bit i general, bit 32 + i fixed */
	__u64 disable_depth; /* nonzero: the PMU is disabled */
};

#define REFPMU_FEATURE_RECORDS 0x1 /* precise records, load latency, off-core response */
#define REFPMU_FEATURE_TRACE 0x2 /* branch trace */
#define REFPMU_FEATURE_NMI 0x4 /* the interrupt is an NMI */

/* The device, by the parameters of the module; fields of features that the PMU lacks are 0. */
struct refpmu_info {
	__u32 size;
	__u32 general; /* counters */
	__u32 fixed; /* counters */
	__u32 width; /* bits of a counter */
	__u64 min_period; /* shortest sampling period */
	__u32 lbr; /* depth of the branch record stack; 0: none */
	__u32 features; /* REFPMU_FEATURE_* */
};

/* Clear statistics and log of all CPUs, release the lines, set the clocks to AUTO. */
#define REFPMU_IOC_RESET _IO(0xB7, 0)
#define REFPMU_IOC_INFO _IOWR(0xB7, 1, struct refpmu_info)
#define REFPMU_IOC_PULSE _IOWR(0xB7, 2, struct refpmu_pulse)
#define REFPMU_IOC_CLOCK _IOW(0xB7, 3, struct refpmu_clock)
#define REFPMU_IOC_ADVANCE _IOWR(0xB7, 4, struct refpmu_advance)
#define REFPMU_IOC_REG _IOWR(0xB7, 5, struct refpmu_reg)
#define REFPMU_IOC_LINE _IOW(0xB7, 6, struct refpmu_line)
#define REFPMU_IOC_INJECT _IOWR(0xB7, 7, struct refpmu_inject)
#define REFPMU_IOC_LOG _IOWR(0xB7, 8, struct refpmu_log)
#define REFPMU_IOC_STATS _IOWR(0xB7, 9, struct refpmu_stats)
#define REFPMU_IOC_BRANCHES _IOWR(0xB7, 10, struct refpmu_branches)

#endif /* _UAPI_REFPMU_H */
