/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-3-Clause */
/*
 * The stimulus port of a reference PMU: ioctls on the file in /dev that is named as the PMU
 * (/dev/refpmu, /dev/refpmu_uncore, ...; mode 0600, CAP_SYS_ADMIN). A request that a kind of PMU
 * has no use for gives ENOTTY there.
 *
 * Every argument begins with its own size in bytes; a size that the kernel does not know, a flag
 * that is not defined or a reserved field that is not zero gives EINVAL and changes nothing.
 * @cpu is the CPU whose PMU is meant; REFPMU_CPU_CURRENT is the one the caller runs on. A foreign
 * CPU is served by a kernel worker there, so per-task events of the caller do not see it; an
 * offline CPU gives ENXIO, and so does one that is not of the PMU's kind.
 */
#ifndef _UAPI_REFPMU_H
#define _UAPI_REFPMU_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define REFPMU_CPU_CURRENT (-1)

/* Privilege at which a stimulus happens: the USR and OS bits of the selectors filter on it. */
#define REFPMU_PRIV_USER 0
#define REFPMU_PRIV_KERNEL 1

/* What a sample of general registers shows; in the order rax rcx rdx rbx rsp rbp rsi rdi r8-r15. */
struct refpmu_regs {
	__u64 flags;
	__u64 gpr[16];
};

/*
 * Let @n events of @event happen on @cpu. The device stops at each overflow until the driver has
 * served it (acknowledged the status), so nothing is counted past an unserved overflow; with
 * @skid, up to that many further events are counted before the interrupt line rises.
 * EIO if the driver does not serve a raised line within one second; @done says how far it came.
 * While the line is held (REFPMU_IOC_LINE) overflows do not stop the device.
 */
struct refpmu_pulse {
	__u32 size;
	__s32 cpu;
	__u32 event; /* event code in bits 0-7, unit mask in bits 8-15 */
	__u32 privilege; /* REFPMU_PRIV_* */
	__u64 n;
	__u64 ip; /* instruction pointer that samples show; 0: that of the caller */
	__u64 addr; /* data address that samples show */
	__u32 skid;
	__u32 per_pulse; /* occurrences in the cycle of each event, up to 63; 0 means 1 */
	__u32 latency; /* cycles that each took, up to 65535: for load latency, and in samples */
	__u32 reserved;
	__u64 source; /* of the data, as PERF_MEM_* bits: in samples */
	__u64 response; /* off-core request and response bits */
	__u64 regs; /* user pointer to struct refpmu_regs; 0: all are zero */
	__u64 done; /* out: events that happened */
};

#define REFPMU_CLOCK_AUTO 0 /* ticks follow time: one a nanosecond */
#define REFPMU_CLOCK_MANUAL 1 /* ticks come only from REFPMU_IOC_ADVANCE */

/*
 * Choose the clock of @cpu. A tick is one cycle; instructions retire every 2nd, ref-cycles every
 * 4th.
 */
struct refpmu_clock {
	__u32 size;
	__s32 cpu;
	__u32 mode; /* REFPMU_CLOCK_* */
	__u32 reserved;
};

/* Advance the manual clock of @cpu by @ticks; stops at overflows as a pulse does. EBUSY in AUTO. */
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

/* A branch that is taken. */
struct refpmu_branch_entry {
	__u64 from;
	__u64 to;
	/*
	 * 0 jcc, 1 relative call, 2 indirect call, 3 return, 4 indirect jump, 5 relative jump,
	 * 6 far
	 */
	__u32 kind;
	__u32 flags; /* REFPMU_BRANCH_* */
	__u32 cycles; /* since the branch before, up to 65535 */
	__u32 privilege; /* REFPMU_PRIV_*, where it ends */
};

/*
 * Let the branches in @entries happen on @cpu, one after the other: each is an event of the
 * branch codes, and goes to the branch records. Stops at overflows and full buffers as a pulse
 * does. At most REFPMU_BRANCHES_MAX a call.
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

/* Hold the interrupt line of @cpu down, or release it; a line that is due then rises at once. */
struct refpmu_line {
	__u32 size;
	__s32 cpu;
	__u32 hold;
	__u32 reserved;
};

/*
 * Raise the interrupt line of @cpu with @status ORed into the global status, whatever the counters
 * say; @status 0 is a spurious interrupt. @claimed: how many handler runs found work of their own.
 */
struct refpmu_inject {
	__u32 size;
	__s32 cpu;
	__u64 status;
	__u32 runs; /* out: handler runs that this caused (bounded; a storm reports the bound) */
	__u32 claimed; /* out: of those, the runs that claimed the interrupt */
};

/* What a log entry tells. */
enum refpmu_log_kind {
	REFPMU_LOG_CALL = 1, /* a callback was entered: @what is enum refpmu_call, @arg its flags */
	REFPMU_LOG_READ = 2, /* a register was read: @what register, @arg value */
	REFPMU_LOG_WRITE = 3, /* a register was written: @what register, @arg value */
	REFPMU_LOG_PMI = 4, /* the handler ran: @arg status it saw, @what 1 if it claimed */
};

/* SNAPSHOT_AUX, which no PMU of the module has, stays 0. */
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
	__u64 event; /* id of the event (0: none); equal for equal events within one boot */
	__u64 seq; /* counts up on this CPU since the last reset; a gap means overwritten entries */
};

/* Copy the newest entries of @cpu's log, oldest first, to @entries (room for @capacity). */
struct refpmu_log {
	__u32 size;
	__s32 cpu;
	__u64 entries; /* user pointer to struct refpmu_log_entry[] */
	__u32 capacity;
	__u32 count; /* out */
};

/* Counts since load or REFPMU_IOC_RESET; "live" and "used" ones are states, not reset. */
struct refpmu_stats {
	__u32 size;
	__s32 cpu;
	__u64 calls[32]; /* indexed by enum refpmu_call (EVENT_INIT and DESTROY: all CPUs) */
	__u64 pmi; /* handler runs; without an interrupt: times that the timer read the counters */
	__u64 pmi_claimed;
	__u64 overflows; /* samples handed to perf */
	__u64 live_events; /* inits less destroys, all CPUs */
	__u64 used; /* counters taken: bit i general, bit 32 + i fixed */
	__u64 disable_depth; /* nonzero: the PMU is disabled now */
};

#define REFPMU_FEATURE_RECORDS 0x1 /* precise records, load latency, off-core response */
#define REFPMU_FEATURE_TRACE 0x2 /* branch trace */
#define REFPMU_FEATURE_NMI 0x4 /* the interrupt is an NMI */

/* The device: what the module was loaded with; 0 for what its kind does not have. */
struct refpmu_info {
	__u32 size;
	__u32 general; /* counters */
	__u32 fixed; /* counters */
	__u32 width; /* bits of a counter */
	__u64 min_period; /* shortest sampling period */
	__u32 lbr; /* depth of the branch record stack; 0: none */
	__u32 features; /* REFPMU_FEATURE_* */
};

/* Statistics and log of all CPUs to zero, lines released, clocks to AUTO. */
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
