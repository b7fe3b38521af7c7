// SPDX-License-Identifier: Apache-2.0
// Implements single steps with the trap flag of x86-64.
#include "single_step.h"

#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdlib>

namespace pmuconf {
namespace {

constexpr greg_t kTrapFlag = 0x100;
constexpr unsigned kCopySeconds = 20;  // limit for a copy whose code does not end

// Skips the red zone. The memory clobber completes earlier stores before the first step.
void SetTrapFlag() {
  asm volatile(
      "lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::
          : "memory", "cc");
}

void ClearTrapFlag() {
  asm volatile(
      "lea -128(%%rsp), %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::
          : "memory", "cc");
}

// Work that runs in single steps.
struct Stepping {
  uint64_t seen;
  // Called after each instruction; returns true to stop the single steps.
  std::function<bool(uint64_t)> step;
};

// The innermost one. The handler runs on the thread that it interrupts.
Stepping* g_stepping = nullptr;

void Trap(int, siginfo_t*, void* context) {
  Stepping* const mine = g_stepping;
  if (mine->step(++mine->seen)) {
    auto* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    registers[REG_EFL] &= ~kTrapFlag;
  }
  g_stepping = mine;
}

void Run(const std::function<void()>& work, Stepping* stepping) {
  struct sigaction action = {};
  action.sa_sigaction = Trap;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  if (sigaction(SIGTRAP, &action, nullptr) != 0) std::abort();
  Stepping* const outer = g_stepping;
  g_stepping = stepping;
  SetTrapFlag();
  work();
  ClearTrapFlag();
  g_stepping = outer;
}

// Waits for a copy of the process and returns whether it succeeded.
bool EndedWell(pid_t copy) {
  int status = 0;
  return waitpid(copy, &status, 0) == copy && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

uint64_t RunInterrupted(const std::function<void()>& work, uint64_t at,
                        const std::function<void()>& intruder) {
  Stepping stepping = {0, [&](uint64_t seen) {
                         if (seen == at) intruder();
                         return seen == at;
                       }};
  Run(work, &stepping);
  return stepping.seen;
}

uint64_t RunInterruptedEverywhere(const std::function<void()>& work, uint64_t every,
                                  const std::function<void(uint64_t)>& intruder,
                                  const std::function<bool(uint64_t)>& check) {
  uint64_t failed = 0;
  bool is_copy = false;
  Stepping stepping = {0, [&](uint64_t seen) {
                         if (seen % every != 0) return false;
                         const pid_t copy = fork();
                         is_copy = copy == 0;
                         if (is_copy) {
                           alarm(kCopySeconds);
                           intruder(seen);
                           return true;
                         }
                         if (!EndedWell(copy)) failed = seen;
                         return failed != 0;
                       }};
  Run(work, &stepping);
  if (is_copy) _exit(check(stepping.seen) ? 0 : 1);
  return failed;
}

}  // namespace pmuconf
