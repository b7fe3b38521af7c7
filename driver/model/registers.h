/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Registers of the modelled performance monitor, by their MSR numbers, their fields, and the event
 * codes of the device.
 *
 * A write of a bit that its register does not have, to a read-only register or to one that is not
 * there faults and changes nothing. Any other write is seen whole by the next access, and does
 * nothing beside what is said here; in particular, no write of a counter or a selector sets or
 * clears status.
 * Source: Intel SDM vol. 3, chapters "Performance Monitoring" and "Debug, Branch Profile, TSC, and
 * Intel RDT Features" (the sections are named below), vol. 4 for the numbers.
 */
#ifndef REFPMU_MODEL_REGISTERS_H
#define REFPMU_MODEL_REGISTERS_H

#include "refpmu_port.h"

#define REFPMU_MAX_GENERAL 32
#define REFPMU_MAX_FIXED 3
#define REFPMU_MAX_LBR 32

/*
 * Counters. Bit i of the global registers is general counter i, bit 32 + i fixed counter i.
 *
 * PMC             sets the counter to bits 0-31, sign-extended to its width; others are ignored.
 *                 ("Architectural Performance Monitoring Version 1 Facilities")
 * A_PMC           sets it to all bits of its width; others are reserved. ("Full-Width Writes to
 *                 Performance Counter Registers")
 * EVTSEL          chooses what the counter counts from the next event on; bit 19 and those above 31
 *                 are reserved. ("... Version 1 Facilities", "... Version 3 Facilities" for ANY)
 * FIXED_CTR       as A_PMC. FIXED_CTR_CTRL: rings and interrupt, four bits a counter.
 *                 ("Architectural Performance Monitoring Version 2 Facilities")
 * GLOBAL_CTRL     switches counters on, in addition to EN or the rings of a fixed one. (Version 2)
 * GLOBAL_STATUS   is read only: which counters have wrapped, and the bits below.
 * ..STATUS_RESET  clears the bits that are set in the value, and drops the line if none is left
 *                 that holds it; clearing a FROZEN bit lets what it froze go on. (Version 4)
 * ..STATUS_SET    sets them, and raises the line for all but the FROZEN ones. (Version 4)
 */
#define REFPMU_REG_PMC(i) (0x0c1u + (i))
#define REFPMU_REG_EVTSEL(i) (0x186u + (i))
#define REFPMU_REG_FIXED_CTR(i) (0x309u + (i))
#define REFPMU_REG_FIXED_CTR_CTRL 0x38du
#define REFPMU_REG_GLOBAL_STATUS 0x38eu
#define REFPMU_REG_GLOBAL_CTRL 0x38fu
#define REFPMU_REG_GLOBAL_STATUS_RESET 0x390u /* reads 0 */
#define REFPMU_REG_GLOBAL_STATUS_SET 0x391u /* reads 0 */
#define REFPMU_REG_A_PMC(i) (0x4c1u + (i))

/*
 * A pulse of an event is a cycle in which it occurs once or oftener, and an idle one after it. The
 * counter gains, without CMASK, its occurrences; with CMASK, 1 for the cycle if it has at least
 * that many; with INV and CMASK, 1 for each cycle that has fewer; with EDGE, 1 each time that such
 * a condition (CMASK 0 is 1 here) begins to hold. Ticks of the clock are cycles likewise. Cycles of
 * one event are none of another.
 */
#define REFPMU_EVTSEL_EVENT 0x000000ffULL
#define REFPMU_EVTSEL_UMASK 0x0000ff00ULL
#define REFPMU_EVTSEL_CODE (REFPMU_EVTSEL_EVENT | REFPMU_EVTSEL_UMASK)
#define REFPMU_EVTSEL_USR BIT_ULL(16)
#define REFPMU_EVTSEL_OS BIT_ULL(17)
#define REFPMU_EVTSEL_EDGE BIT_ULL(18)
#define REFPMU_EVTSEL_INT BIT_ULL(20)
#define REFPMU_EVTSEL_ANY BIT_ULL(21) /* kept, and without effect: there are no other threads */
#define REFPMU_EVTSEL_EN BIT_ULL(22)
#define REFPMU_EVTSEL_INV BIT_ULL(23)
#define REFPMU_EVTSEL_CMASK 0xff000000ULL
#define REFPMU_EVTSEL_CMASK_SHIFT 24

/* Four bits a fixed counter in FIXED_CTR_CTRL. */
#define REFPMU_FIXED_OS(i) BIT_ULL(4 * (i) + 0)
#define REFPMU_FIXED_USR(i) BIT_ULL(4 * (i) + 1)
#define REFPMU_FIXED_ANY(i) BIT_ULL(4 * (i) + 2) /* kept, without effect */
#define REFPMU_FIXED_PMI(i) BIT_ULL(4 * (i) + 3)

/* GLOBAL_STATUS beside the counters. */
#define REFPMU_STATUS_LBR_FROZEN BIT_ULL(58) /* LBRs recorded nothing since a PMI froze them */
#define REFPMU_STATUS_CTR_FROZEN BIT_ULL(59) /* counters stand still since a PMI froze them */
#define REFPMU_STATUS_DS BIT_ULL(62) /* the record area has reached its threshold */

#define REFPMU_REG_PERF_CAPABILITIES 0x345u /* read only */
#define REFPMU_CAP_LBR_FORMAT 0x3fULL
#define REFPMU_CAP_LBR_FORMAT_INFO 5ULL /* from, to and info registers */
#define REFPMU_CAP_PEBS_TRAP BIT_ULL(6) /* the recorded IP is that after the instruction */
#define REFPMU_CAP_PEBS_ARCH_REGS BIT_ULL(7)
#define REFPMU_CAP_PEBS_FORMAT 0xf00ULL
#define REFPMU_CAP_PEBS_FORMAT_SHIFT 8 /* 5: adaptive, 32 resets; or 3, which is not */
#define REFPMU_CAP_FULL_WIDTH_WRITE BIT_ULL(13)
#define REFPMU_CAP_PEBS_BASELINE BIT_ULL(14)

/*
 * Conditions of events, on devices with records.
 *
 * OFFCORE_RSP     the request and response bits that OFFCORE_0 or _1 counts: an event counts if it
 *                 has any, and all that it has are set here. ("Off-core Response Performance
 *                 Monitoring")
 * LD_LAT          LOAD_LATENCY counts loads that took more cycles than this. ("Load Latency
 *                 Performance Monitoring Facility")
 */
#define REFPMU_REG_OFFCORE_RSP(i) (0x1a6u + (i)) /* i: 0 or 1 */
#define REFPMU_OFFCORE_RSP_MASK 0x3fffff8fffULL
#define REFPMU_REG_LD_LAT 0x3f6u
#define REFPMU_LD_LAT_MASK 0xffffULL

/*
 * Records in memory: PEBS and BTS through the DS area (record.h).
 *
 * PEBS_ENABLE     lets a counter write a record when it overflows, of the very event that did it;
 *                 it then goes on from its reset in the DS area, sets no status and interrupts
 *                 nobody.
 *                 ("Processor Event Based Sampling", "Extended PEBS")
 *                 In format 3 general counters alone do, and the bits 32 higher, which load
 *                 latency events have beside theirs, are kept and without effect.
 * PEBS_DATA_CFG   the groups of the records that are written from now on; there is none in format
 *                 3. ("Adaptive PEBS")
 * DS_AREA         where the DS area is, a multiple of 8; 0: nowhere, and all counters just count.
 *                 ("Debug Store (DS) Mechanism")
 * DEBUGCTL        as the bits say, from the next event on; freezing happens when the line rises.
 *                 ("IA32_DEBUGCTL MSR", "Branch Trace Store (BTS)", "Freezing LBR and Performance
 *                 Counters on PMI")
 */
#define REFPMU_REG_PEBS_ENABLE 0x3f1u /* bits as in GLOBAL_CTRL */
#define REFPMU_REG_PEBS_DATA_CFG 0x3f2u
#define REFPMU_REG_DS_AREA 0x600u /* address of struct refpmu_ds */
#define REFPMU_PEBS_DATA_MEMORY BIT_ULL(0)
#define REFPMU_PEBS_DATA_GPRS BIT_ULL(1)
#define REFPMU_PEBS_DATA_LBRS BIT_ULL(3)
#define REFPMU_PEBS_DATA_LBR_SHIFT 24 /* bits 24-31: LBR entries less 1 */
#define REFPMU_PEBS_DATA_LBR_COUNT (0xffULL << REFPMU_PEBS_DATA_LBR_SHIFT)

#define REFPMU_REG_DEBUGCTL 0x1d9u
#define REFPMU_DEBUGCTL_LBR BIT_ULL(0)
#define REFPMU_DEBUGCTL_TR BIT_ULL(6) /* branch messages are made */
#define REFPMU_DEBUGCTL_BTS BIT_ULL(7) /* and go to the BTS buffer */
#define REFPMU_DEBUGCTL_BTINT BIT_ULL(8) /* threshold interrupts; without: the buffer wraps */
#define REFPMU_DEBUGCTL_BTS_OFF_OS BIT_ULL(9)
#define REFPMU_DEBUGCTL_BTS_OFF_USR BIT_ULL(10)
#define REFPMU_DEBUGCTL_FREEZE_LBRS BIT_ULL(11) /* on a PMI */
#define REFPMU_DEBUGCTL_FREEZE_PERFMON BIT_ULL(12) /* on a PMI */

/*
 * Last branch records: "LBR Stack", "Filtering of Last Branch Records", "LBR Call Stack". A branch
 * that is recorded goes to the entry after TOS, which becomes TOS.
 *
 * LBR_SELECT      which branches are recorded from now on; what is recorded stays. In call-stack
 *                 mode a return that is not left out takes the newest entry away: it reads as
 *                 0, and TOS moves back. One whose FROM is 0 is none.
 * LBR_TOS         which entry is the newest: an index below the depth.
 * LBR_FROM TO INFO  that word of an entry. INFO has the bits below alone.
 */
#define REFPMU_REG_LBR_SELECT 0x1c8u /* a set bit leaves branches out */
#define REFPMU_LBR_NOT_KERNEL BIT_ULL(0) /* those that end in ring 0 */
#define REFPMU_LBR_NOT_USER BIT_ULL(1)
#define REFPMU_LBR_NOT_JCC BIT_ULL(2)
#define REFPMU_LBR_NOT_REL_CALL BIT_ULL(3)
#define REFPMU_LBR_NOT_IND_CALL BIT_ULL(4)
#define REFPMU_LBR_NOT_RET BIT_ULL(5)
#define REFPMU_LBR_NOT_IND_JMP BIT_ULL(6)
#define REFPMU_LBR_NOT_REL_JMP BIT_ULL(7)
#define REFPMU_LBR_NOT_FAR BIT_ULL(8)
#define REFPMU_LBR_CALL_STACK BIT_ULL(9) /* a call pushes, its return pops */
#define REFPMU_LBR_SELECT_MASK 0x3ffULL
#define REFPMU_REG_LBR_TOS 0x1c9u
#define REFPMU_REG_LBR_FROM(i) (0x680u + (i))
#define REFPMU_REG_LBR_TO(i) (0x6c0u + (i))
#define REFPMU_REG_LBR_INFO(i) (0xdc0u + (i))
#define REFPMU_LBR_INFO_CYCLES 0xffffULL
/*
 * The kind of the branch, as BR_TYPE of architectural LBRs (SDM vol. 3, "Last Branch Records"): the
 * device knows what it executed, so that software need not decode instructions.
 */
#define REFPMU_LBR_INFO_TYPE_SHIFT 56
#define REFPMU_LBR_INFO_TYPE (0xfULL << REFPMU_LBR_INFO_TYPE_SHIFT)
#define REFPMU_LBR_TYPE_JCC 0u
#define REFPMU_LBR_TYPE_IND_JMP 1u
#define REFPMU_LBR_TYPE_REL_JMP 2u
#define REFPMU_LBR_TYPE_IND_CALL 3u
#define REFPMU_LBR_TYPE_REL_CALL 4u
#define REFPMU_LBR_TYPE_RET 5u
#define REFPMU_LBR_TYPE_FAR 8u /* 8 to 15: other branches, far ones; the device has but this */
#define REFPMU_LBR_INFO_ABORT BIT_ULL(61)
#define REFPMU_LBR_INFO_IN_TX BIT_ULL(62)
#define REFPMU_LBR_INFO_MISPRED BIT_ULL(63)

/*
 * Event codes (unit mask << 8 | event). The clock drives cycles on every tick, instructions on
 * every 2nd, ref-cycles on every 4th; branches drive BRANCHES and BRANCH_MISSES; pulses drive all.
 */
#define REFPMU_EVENT_CYCLES 0x003cu
#define REFPMU_EVENT_INSTRUCTIONS 0x00c0u
#define REFPMU_EVENT_REF_CYCLES 0x013cu
#define REFPMU_EVENT_BRANCHES 0x00c4u
#define REFPMU_EVENT_BRANCH_MISSES 0x00c5u
/* One occurrence, two ways to look at it: through OFFCORE_RSP 0 and through OFFCORE_RSP 1. */
#define REFPMU_EVENT_OFFCORE_0 0x01b7u
#define REFPMU_EVENT_OFFCORE_1 0x01bbu
#define REFPMU_EVENT_LOAD_LATENCY 0x01cdu
/*
 * Up to REFPMU_WIDE_PAIR occurrences a cycle. A counter on its own takes in REFPMU_WIDE_SINGLE of
 * them; an even one does better if its odd neighbour is enabled with the code MERGE.
 */
#define REFPMU_EVENT_WIDE 0x01d4u
#define REFPMU_EVENT_MERGE 0xffffu
#define REFPMU_WIDE_SINGLE 15
#define REFPMU_WIDE_PAIR 63

#endif /* REFPMU_MODEL_REGISTERS_H */
