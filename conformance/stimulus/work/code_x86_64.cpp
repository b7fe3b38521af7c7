// SPDX-License-Identifier: Apache-2.0
// Work on x86-64. rcx counts the rounds, rbx points to memory, r8 is data.
#ifdef __x86_64__
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include <cerrno>
#include <csignal>

#include "stimulus/work/code.h"

// Each piece: the loop, kLadder units in straight line, and the call that stops the worker.
#define PMUCONF_WORK(NAME, LOOP, UNIT) \
  asm(".pushsection .text\n"           \
      ".balign 64\n"                   \
      ".globl pmuconf_work_" NAME      \
      "\n"                             \
      "pmuconf_work_" NAME             \
      ":\n"                            \
      "1: " LOOP                       \
      "\n"                             \
      "dec %rcx\n"                     \
      "jnz 1b\n"                       \
      ".globl pmuconf_ladder_" NAME    \
      "\n"                             \
      "pmuconf_ladder_" NAME           \
      ":\n"                            \
      ".rept 64\n" UNIT                \
      "\n.endr\n"                      \
      "syscall\n"                      \
      "ud2\n"                          \
      "pmuconf_return_" NAME           \
      ": ret\n"                        \
      ".popsection")

PMUCONF_WORK("instructions", "", "nop");
PMUCONF_WORK("branches", "", ".byte 0xeb, 0x00");  // jmp to the next instruction
PMUCONF_WORK("loads", "mov (%rbx), %r8", "mov (%rbx), %r8");
PMUCONF_WORK("stores", "mov %r8, (%rbx)", "mov %r8, (%rbx)");
PMUCONF_WORK("calls", "call pmuconf_return_calls", "call pmuconf_return_calls");

extern "C" {
#define PMUCONF_SYMBOLS(NAME)              \
  extern const char pmuconf_work_##NAME[]; \
  extern const char pmuconf_ladder_##NAME[]
PMUCONF_SYMBOLS(instructions);
PMUCONF_SYMBOLS(branches);
PMUCONF_SYMBOLS(loads);
PMUCONF_SYMBOLS(stores);
PMUCONF_SYMBOLS(calls);
}

namespace pmuconf {
namespace {

static_assert(kLadder == 64, "the pieces above have 64 units");

struct Piece {
  const char* loop;
  const char* ladder;
  unsigned unit_size;  // bytes
};

Piece PieceOf(WorkKind kind) {
  switch (kind) {
    case WorkKind::kInstructions:
      return {pmuconf_work_instructions, pmuconf_ladder_instructions, 1};
    case WorkKind::kBranches:
      return {pmuconf_work_branches, pmuconf_ladder_branches, 2};
    case WorkKind::kLoads:
      return {pmuconf_work_loads, pmuconf_ladder_loads, 3};
    case WorkKind::kStores:
      return {pmuconf_work_stores, pmuconf_ladder_stores, 3};
    case WorkKind::kCalls:
      return {pmuconf_work_calls, pmuconf_ladder_calls, 5};
  }
  return {};
}

}  // namespace

std::uint64_t LadderAddress(WorkKind kind, unsigned unit) {
  const Piece piece = PieceOf(kind);
  return reinterpret_cast<std::uint64_t>(piece.ladder + unit * piece.unit_size);
}

int LoadWork(pid_t pid, WorkKind kind, const WorkPlan& plan, std::uint64_t* memory) {
  user_regs_struct regs = {};
  if (ptrace(PTRACE_GETREGS, pid, nullptr, &regs) != 0) return errno;
  const Piece piece = PieceOf(kind);
  const char* const start =
      plan.rounds > 0 ? piece.loop : piece.ladder + (kLadder - plan.single) * piece.unit_size;
  regs.rip = reinterpret_cast<std::uint64_t>(start);
  regs.rcx = plan.rounds;
  regs.rbx = reinterpret_cast<std::uint64_t>(memory);
  regs.rax = SYS_tgkill;
  regs.orig_rax = ~0ULL;  // no system call to restart
  regs.rdi = static_cast<std::uint64_t>(pid);
  regs.rsi = static_cast<std::uint64_t>(pid);
  regs.rdx = SIGSTOP;
  return ptrace(PTRACE_SETREGS, pid, nullptr, &regs) == 0 ? 0 : errno;
}

}  // namespace pmuconf
#endif
