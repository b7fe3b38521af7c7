// SPDX-License-Identifier: Apache-2.0
// A known number of instructions, in assembly.
#include "stimulus/stimuli.h"
#include "system/broken.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kBefore = 2;  // instructions before the loop
constexpr std::uint64_t kRound = 2;   // instructions per round

}  // namespace

std::optional<InstructionPlan> PlanInstructions(std::uint64_t n) {
  if (n < kBefore + kRound) return std::nullopt;
  const std::uint64_t remaining = n - kBefore;
  return InstructionPlan{remaining / kRound, remaining % kRound != 0};
}

void ExecuteInstructions(std::uint64_t n) {
  if (n == 0) return;
  const auto plan = PlanInstructions(n);
  if (!plan) throw Broken("cannot execute exactly " + std::to_string(n) + " instructions");
  [[maybe_unused]] std::uint64_t rounds = plan->rounds;
  [[maybe_unused]] const std::uint64_t odd = plan->odd ? 1 : 0;
#if defined(__x86_64__)
  asm volatile(
      "test %[odd], %[odd]\n\t"
      "jz 1f\n\t"
      "nop\n\t"
      "1: dec %[rounds]\n\t"
      "jnz 1b"
      : [rounds] "+r"(rounds)
      : [odd] "r"(odd)
      : "cc");
#elif defined(__aarch64__)
  asm volatile(
      "nop\n\t"
      "cbz %[odd], 1f\n\t"
      "nop\n\t"
      "1: subs %[rounds], %[rounds], #1\n\t"
      "b.ne 1b"
      : [rounds] "+r"(rounds)
      : [odd] "r"(odd)
      : "cc");
#else
  throw Broken("no loop of instructions for this processor");
#endif
}

}  // namespace pmuconf
