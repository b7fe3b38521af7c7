// SPDX-License-Identifier: Apache-2.0
// The code of a worker (stimulus/work/work.h). Only arch/<machine>.cpp includes this header.
#ifndef PMUCONF_ARCH_WORK_CODE_H_
#define PMUCONF_ARCH_WORK_CODE_H_

// Each piece of code: a loop, 64 units in straight line, and the call that stops the worker.
// `AGAIN` decrements the number of rounds and jumps back to label 1 unless it is zero. A round of
// the loop of instructions has two, and each other loop has one branch more than `LOOP`. Neither
// `LOOP` nor `UNIT` may change the number of rounds. `STOP` is the system call, `TRAP` an undefined
// instruction, `RETURN` the return from a function.
#define PMUCONF_WORK(NAME, LOOP, UNIT, AGAIN, STOP, TRAP, RETURN) \
  asm(".pushsection .text\n"                                      \
      ".balign 64\n"                                              \
      ".globl pmuconf_work_" NAME                                 \
      "\n"                                                        \
      "pmuconf_work_" NAME                                        \
      ":\n"                                                       \
      "1: " LOOP "\n" AGAIN                                       \
      "\n"                                                        \
      ".globl pmuconf_ladder_" NAME                               \
      "\n"                                                        \
      "pmuconf_ladder_" NAME                                      \
      ":\n"                                                       \
      ".rept 64\n" UNIT "\n.endr\n" STOP "\n" TRAP                \
      "\n"                                                        \
      "pmuconf_return_" NAME ": " RETURN                          \
      "\n"                                                        \
      ".popsection")

#endif  // PMUCONF_ARCH_WORK_CODE_H_
