// SPDX-License-Identifier: Apache-2.0
// Work on arm64. x9 counts the rounds, x11 points to memory, x10 is data.
#ifdef __aarch64__
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
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
      "subs x9, x9, #1\n"              \
      "b.ne 1b\n"                      \
      ".globl pmuconf_ladder_" NAME    \
      "\n"                             \
      "pmuconf_ladder_" NAME           \
      ":\n"                            \
      ".rept 64\n" UNIT                \
      "\n.endr\n"                      \
      "svc #0\n"                       \
      "udf #0\n"                       \
      "pmuconf_return_" NAME           \
      ": ret\n"                        \
      ".popsection")

PMUCONF_WORK("instructions", "", "nop");
PMUCONF_WORK("branches", "", "b . + 4");
PMUCONF_WORK("loads", "ldr x10, [x11]", "ldr x10, [x11]");
PMUCONF_WORK("stores", "str x10, [x11]", "str x10, [x11]");
PMUCONF_WORK("calls", "bl pmuconf_return_calls", "bl pmuconf_return_calls");

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

constexpr unsigned kInstructionSize = 4;  // bytes
constexpr unsigned kCallRegister = 8;
constexpr unsigned kRounds = 9;
constexpr unsigned kMemory = 11;

struct Piece {
  const char* loop;
  const char* ladder;
};

Piece PieceOf(WorkKind kind) {
  switch (kind) {
    case WorkKind::kInstructions:
      return {pmuconf_work_instructions, pmuconf_ladder_instructions};
    case WorkKind::kBranches:
      return {pmuconf_work_branches, pmuconf_ladder_branches};
    case WorkKind::kLoads:
      return {pmuconf_work_loads, pmuconf_ladder_loads};
    case WorkKind::kStores:
      return {pmuconf_work_stores, pmuconf_ladder_stores};
    case WorkKind::kCalls:
      return {pmuconf_work_calls, pmuconf_ladder_calls};
  }
  return {};
}

}  // namespace

std::uint64_t LadderAddress(WorkKind kind, unsigned unit) {
  return reinterpret_cast<std::uint64_t>(PieceOf(kind).ladder + unit * kInstructionSize);
}

int LoadWork(pid_t pid, WorkKind kind, const WorkPlan& plan, std::uint64_t* memory) {
  user_regs_struct regs = {};
  iovec area = {&regs, sizeof(regs)};
  if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &area) != 0) return errno;
  const Piece piece = PieceOf(kind);
  const char* const start =
      plan.rounds > 0 ? piece.loop : piece.ladder + (kLadder - plan.single) * kInstructionSize;
  regs.pc = reinterpret_cast<std::uint64_t>(start);
  regs.regs[kRounds] = plan.rounds;
  regs.regs[kMemory] = reinterpret_cast<std::uint64_t>(memory);
  regs.regs[kCallRegister] = SYS_tgkill;
  regs.regs[0] = static_cast<std::uint64_t>(pid);
  regs.regs[1] = static_cast<std::uint64_t>(pid);
  regs.regs[2] = SIGSTOP;
  return ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &area) == 0 ? 0 : errno;
}

}  // namespace pmuconf
#endif
