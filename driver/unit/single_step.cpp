// SPDX-License-Identifier: Apache-2.0
// Single steps by the trap flag of x86-64.
#include "single_step.h"

#include <signal.h>
#include <ucontext.h>

#include <cstdlib>

namespace pmuconf {
namespace {

constexpr greg_t kTrapFlag = 0x100;

// Below the red zone; what is in memory is there before, and is looked at after.
void SetTrapFlag() {
  asm volatile("lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp"
               ::: "memory", "cc");
}

void ClearTrapFlag() {
  asm volatile("lea -128(%%rsp), %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp"
               ::: "memory", "cc");
}

struct Stepping {
  uint64_t at;
  uint64_t seen;
  const std::function<void()>* intruder;
};

// The innermost one; the handler runs on the thread that it interrupts.
Stepping* g_stepping = nullptr;

void Trap(int, siginfo_t*, void* context) {
  Stepping* const mine = g_stepping;
  if (++mine->seen < mine->at) return;
  auto* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  registers[REG_EFL] &= ~kTrapFlag;
  (*mine->intruder)();
  g_stepping = mine;
}

void Install() {
  struct sigaction action = {};
  action.sa_sigaction = Trap;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  if (sigaction(SIGTRAP, &action, nullptr) != 0) std::abort();
}

}  // namespace

uint64_t RunInterrupted(const std::function<void()>& work, uint64_t at,
                        const std::function<void()>& intruder) {
  Install();
  Stepping stepping = {at, 0, &intruder};
  Stepping* const outer = g_stepping;
  g_stepping = &stepping;
  SetTrapFlag();
  work();
  ClearTrapFlag();
  g_stepping = outer;
  return stepping.seen;
}

}  // namespace pmuconf
