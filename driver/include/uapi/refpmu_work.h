/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-3-Clause */
/*
 * The work page: counts of the work that the CPUs of a virtual machine execute. A plugin of the
 * emulator (vm/tcg/) writes it. The guest reads it as BAR 2 of an ivshmem device, PCI ID 1af4:1110.
 *
 * The page consists of little-endian words of 64 bits. Block 0 is the header, and block 1 + c has
 * the counts of CPU c. The counts only increase, and they count from the start of the machine.
 */
#ifndef _UAPI_REFPMU_WORK_H
#define _UAPI_REFPMU_WORK_H

#define REFPMU_WORK_MAGIC 0x31304b524f574350ULL /* "PCWORK01" */

#define REFPMU_WORK_BLOCK 64 /* words of a block */
#define REFPMU_WORK_CPUS 16 /* limit of CPUs; the page has one block more */

/* Words of the header. */
#define REFPMU_WORK_WORD_MAGIC 0 /* written last, when the header is complete */
#define REFPMU_WORK_WORD_EVENTS 1 /* set of the counted events: 1 << REFPMU_WORK_* */
#define REFPMU_WORK_WORD_CPUS 2 /* blocks with counts; 1 if all CPUs share the first one */
/* 1 + n if an instruction takes 2^n ns of the machine's time; 0 if both are independent */
#define REFPMU_WORK_WORD_ICOUNT 3

/* Events. */
#define REFPMU_WORK_INSTRUCTIONS 0
#define REFPMU_WORK_BRANCHES 1 /* executed near branch instructions, taken or not */
#define REFPMU_WORK_CALLS 2 /* near calls */
#define REFPMU_WORK_RETURNS 3 /* near returns */
#define REFPMU_WORK_LOADS 4 /* reads of memory by instructions */
#define REFPMU_WORK_STORES 5 /* writes of memory by instructions */
#define REFPMU_WORK_TAKEN 6 /* near branches whose successor is elsewhere */
#define REFPMU_WORK_L1D_LOAD_MISSES 7 /* of the plugin's model of a cache */
#define REFPMU_WORK_L1D_STORE_MISSES 8
#define REFPMU_WORK_L1I_MISSES 9
#define REFPMU_WORK_EVENTS 10

/* The word of an event in a block. @privilege is 0 for user mode and 1 for kernel mode. */
#define REFPMU_WORK_WORD(event, privilege) (2 * (event) + (privilege))

#define REFPMU_WORK_WORDS ((1 + REFPMU_WORK_CPUS) * REFPMU_WORK_BLOCK)

#endif /* _UAPI_REFPMU_WORK_H */
