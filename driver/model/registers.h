/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Registers of the modeled performance monitor with their MSR numbers, their fields, and the event
 * codes of the device.
 *
 * A write faults and changes nothing if it sets a bit that its register does not have, or if the
 * register is read-only or does not exist. The next access sees the whole value of any other write.
 * A write has no effects except those defined here; in particular, no write to a counter or an
 * event select sets or clears a status bit. Source: Intel SDM vol. 3, chapters "Performance
 * Monitoring" and "Debug, Branch Profile, TSC, and Intel RDT Features" (the sections are named
 * below), vol. 4 for the numbers.
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
 * PMC: a write sets the counter to bits 0-31, sign-extended to its width; the other bits are
 * ignored. ("Architectural Performance Monitoring Version 1 Facilities")
 *
 * A_PMC: a write sets the counter to all bits of its width; the other bits are reserved.
 * ("Full-Width Writes to Performance Counter Registers")
 *
 * EVTSEL: selects the event that the counter counts from the next event on; bit 19 and bits above
 * 31 are reserved. ("... Version 1 Facilities", "... Version 3 Facilities" for ANY)
 *
 * FIXED_CTR: like A_PMC. FIXED_CTR_CTRL: privileges and interrupt, four bits for each counter.
 * ("Architectural Performance Monitoring Version 2 Facilities")
 *
 * GLOBAL_CTRL: enables counters. A counter also needs EN, or for a fixed counter a privilege.
 * (Version 2)
 *
 * GLOBAL_STATUS: read-only; the counters that have overflowed, and the bits below.
 *
 * GLOBAL_STATUS_RESET: clears the bits that are set in the value. The line falls if no bit that
 * asserts it remains. Clearing a FROZEN bit ends the freeze. (Version 4)
 *
 * GLOBAL_STATUS_SET: sets the bits, and raises the line for all except the FROZEN bits. (Version 4)
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
 * A pulse of an event is a cycle in which the event occurs once or more, followed by an idle cycle.
 * The increment of the counter depends on the event select:
 *
 * - without CMASK: the number of occurrences
 * - with CMASK: 1 for each cycle with at least CMASK occurrences
 * - with CMASK and INV: 1 for each cycle with fewer occurrences
 * - with EDGE: 1 each time that this condition becomes true; CMASK 0 means 1 here
 *
 * A tick of the clock is a cycle, too. The cycles of different events are independent.
 */
#define REFPMU_EVTSEL_EVENT 0x000000ffULL
#define REFPMU_EVTSEL_UMASK 0x0000ff00ULL
#define REFPMU_EVTSEL_CODE (REFPMU_EVTSEL_EVENT | REFPMU_EVTSEL_UMASK)
#define REFPMU_EVTSEL_USR BIT_ULL(16)
#define REFPMU_EVTSEL_OS BIT_ULL(17)
#define REFPMU_EVTSEL_EDGE BIT_ULL(18)
#define REFPMU_EVTSEL_INT BIT_ULL(20)
#define REFPMU_EVTSEL_ANY BIT_ULL(21) /* writable, no effect: the core has no other threads */
#define REFPMU_EVTSEL_EN BIT_ULL(22)
#define REFPMU_EVTSEL_INV BIT_ULL(23)
#define REFPMU_EVTSEL_CMASK 0xff000000ULL
#define REFPMU_EVTSEL_CMASK_SHIFT 24

/* Four bits for each fixed counter in FIXED_CTR_CTRL. */
#define REFPMU_FIXED_OS(i) BIT_ULL(4 * (i) + 0)
#define REFPMU_FIXED_USR(i) BIT_ULL(4 * (i) + 1)
#define REFPMU_FIXED_ANY(i) BIT_ULL(4 * (i) + 2) /* writable, no effect */
#define REFPMU_FIXED_PMI(i) BIT_ULL(4 * (i) + 3)

/* Bits of GLOBAL_STATUS other than those of counters. */
#define REFPMU_STATUS_LBR_FROZEN BIT_ULL(58) /* a PMI has frozen the branch records */
#define REFPMU_STATUS_CTR_FROZEN BIT_ULL(59) /* a PMI has frozen the counters */
#define REFPMU_STATUS_DS BIT_ULL(62) /* a buffer of the DS area has reached its threshold */

#define REFPMU_REG_PERF_CAPABILITIES 0x345u /* read-only */
#define REFPMU_CAP_LBR_FORMAT 0x3fULL
#define REFPMU_CAP_LBR_FORMAT_INFO 5ULL /* from, to and info registers */
#define REFPMU_CAP_PEBS_TRAP BIT_ULL(6) /* the recorded IP is that of the next instruction */
#define REFPMU_CAP_PEBS_ARCH_REGS BIT_ULL(7)
#define REFPMU_CAP_PEBS_FORMAT 0xf00ULL
#define REFPMU_CAP_PEBS_FORMAT_SHIFT 8 /* 5: adaptive, 32 reset values; 3: not adaptive */
#define REFPMU_CAP_FULL_WIDTH_WRITE BIT_ULL(13)
#define REFPMU_CAP_PEBS_BASELINE BIT_ULL(14)

/*
 * Conditions of events, on devices with records.
 *
 * OFFCORE_RSP: request and response bits for OFFCORE_0 or OFFCORE_1. An event counts if it has at
 * least one bit and all its bits are set here. ("Off-core Response Performance Monitoring")
 *
 * LD_LAT: LOAD_LATENCY counts loads that take more cycles than this. ("Load Latency Performance
 * Monitoring Facility")
 */
#define REFPMU_REG_OFFCORE_RSP(i) (0x1a6u + (i)) /* i: 0 or 1 */
#define REFPMU_OFFCORE_RSP_MASK 0x3fffff8fffULL
#define REFPMU_REG_LD_LAT 0x3f6u
#define REFPMU_LD_LAT_MASK 0xffffULL

/*
 * Records in memory: PEBS and BTS through the DS area (record.h).
 *
 * PEBS_ENABLE: a counter writes a record of the very event that makes it overflow. It is then
 * reloaded with its reset value from the DS area, sets no status bit and raises no interrupt.
 * ("Processor Event Based Sampling", "Extended PEBS") In format 3 only general counters write
 * records. Software also sets the bit 32 higher for load latency events; it is writable and has no
 * effect.
 *
 * PEBS_DATA_CFG: groups of the records that are written from now on; does not exist in format 3.
 * ("Adaptive PEBS")
 *
 * DS_AREA: address of the DS area, a multiple of 8; 0: no DS area, and no counter writes records.
 * ("Debug Store (DS) Mechanism")
 *
 * DEBUGCTL: the bits take effect at the next event. Freezing happens when the line rises.
 * ("IA32_DEBUGCTL MSR", "Branch Trace Store (BTS)", "Freezing LBR and Performance Counters on PMI")
 */
#define REFPMU_REG_PEBS_ENABLE 0x3f1u /* bits as in GLOBAL_CTRL */
#define REFPMU_REG_PEBS_DATA_CFG 0x3f2u
#define REFPMU_REG_DS_AREA 0x600u /* address of struct refpmu_ds */
#define REFPMU_PEBS_DATA_MEMORY BIT_ULL(0)
#define REFPMU_PEBS_DATA_GPRS BIT_ULL(1)
#define REFPMU_PEBS_DATA_LBRS BIT_ULL(3)
#define REFPMU_PEBS_DATA_LBR_SHIFT 24 /* bits 24-31: number of LBR entries minus 1 */
#define REFPMU_PEBS_DATA_LBR_COUNT (0xffULL << REFPMU_PEBS_DATA_LBR_SHIFT)

#define REFPMU_REG_DEBUGCTL 0x1d9u
#define REFPMU_DEBUGCTL_LBR BIT_ULL(0)
#define REFPMU_DEBUGCTL_TR BIT_ULL(6) /* generate branch messages */
#define REFPMU_DEBUGCTL_BTS BIT_ULL(7) /* store branch messages in the BTS buffer */
/* interrupt at the threshold; otherwise the buffer wraps */
#define REFPMU_DEBUGCTL_BTINT BIT_ULL(8)
#define REFPMU_DEBUGCTL_BTS_OFF_OS BIT_ULL(9)
#define REFPMU_DEBUGCTL_BTS_OFF_USR BIT_ULL(10)
#define REFPMU_DEBUGCTL_FREEZE_LBRS BIT_ULL(11) /* on a PMI */
#define REFPMU_DEBUGCTL_FREEZE_PERFMON BIT_ULL(12) /* on a PMI */

/*
 * Last branch records: "LBR Stack", "Filtering of Last Branch Records", "LBR Call Stack". A new
 * record is written to the entry after TOS, which becomes TOS.
 *
 * LBR_SELECT: branches that are recorded from now on; existing records remain. In call-stack mode a
 * return that is not filtered out removes the newest entry: the entry reads as 0, and TOS moves
 * back. An entry whose FROM is 0 is empty.
 *
 * LBR_TOS: index of the newest entry, below the depth.
 *
 * LBR_FROM, LBR_TO, LBR_INFO: the words of an entry. INFO has only the bits below.
 */
#define REFPMU_REG_LBR_SELECT 0x1c8u /* a set bit filters branches out */
#define REFPMU_LBR_NOT_KERNEL BIT_ULL(0) /* branches to ring 0 */
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
 * The branch type, as BR_TYPE of architectural LBRs (SDM vol. 3, "Last Branch Records"). The device
 * reports the type, so that software need not decode instructions.
 */
#define REFPMU_LBR_INFO_TYPE_SHIFT 56
#define REFPMU_LBR_INFO_TYPE (0xfULL << REFPMU_LBR_INFO_TYPE_SHIFT)
#define REFPMU_LBR_TYPE_JCC 0u
#define REFPMU_LBR_TYPE_IND_JMP 1u
#define REFPMU_LBR_TYPE_REL_JMP 2u
#define REFPMU_LBR_TYPE_IND_CALL 3u
#define REFPMU_LBR_TYPE_REL_CALL 4u
#define REFPMU_LBR_TYPE_RET 5u
#define REFPMU_LBR_TYPE_FAR 8u /* 8 to 15 are other (far) branches; the device uses only 8 */
#define REFPMU_LBR_INFO_ABORT BIT_ULL(61)
#define REFPMU_LBR_INFO_IN_TX BIT_ULL(62)
#define REFPMU_LBR_INFO_MISPRED BIT_ULL(63)

/*
 * Event codes (unit mask << 8 | event). The clock generates cycles at every tick, instructions at
 * every 2nd and ref-cycles at every 4th. Branches generate BRANCHES and BRANCH_MISSES. Pulses can
 * generate all events.
 */
#define REFPMU_EVENT_CYCLES 0x003cu
#define REFPMU_EVENT_INSTRUCTIONS 0x00c0u
#define REFPMU_EVENT_REF_CYCLES 0x013cu
#define REFPMU_EVENT_BRANCHES 0x00c4u
#define REFPMU_EVENT_BRANCH_MISSES 0x00c5u
/* Branches by kind, accesses to memory, misses of the first cache: only pulses generate them. */
#define REFPMU_EVENT_CALLS 0x02c4u
#define REFPMU_EVENT_RETURNS 0x08c4u
#define REFPMU_EVENT_TAKEN 0x20c4u
#define REFPMU_EVENT_LOADS 0x81d0u
#define REFPMU_EVENT_STORES 0x82d0u
#define REFPMU_EVENT_L1D_LOAD_MISSES 0x0151u
#define REFPMU_EVENT_L1D_STORE_MISSES 0x0251u
#define REFPMU_EVENT_L1I_MISSES 0x0283u
/* The same event, filtered by OFFCORE_RSP 0 and by OFFCORE_RSP 1. */
#define REFPMU_EVENT_OFFCORE_0 0x01b7u
#define REFPMU_EVENT_OFFCORE_1 0x01bbu
#define REFPMU_EVENT_LOAD_LATENCY 0x01cdu
/*
 * An event with up to REFPMU_WIDE_PAIR occurrences in a cycle. A single counter counts at most
 * REFPMU_WIDE_SINGLE of them. An even counter counts all if its odd neighbor is enabled with the
 * code MERGE.
 */
#define REFPMU_EVENT_WIDE 0x01d4u
#define REFPMU_EVENT_MERGE 0xffffu
#define REFPMU_WIDE_SINGLE 15
#define REFPMU_WIDE_PAIR 63

#endif /* REFPMU_MODEL_REGISTERS_H */
