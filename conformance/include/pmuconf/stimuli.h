// SPDX-License-Identifier: Apache-2.0
// What a program can make happen by itself, a known number of times, without a stimulus port.
// Every call asserts (BROKEN).
#ifndef PMUCONF_STIMULI_H_
#define PMUCONF_STIMULI_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pmuconf {

// `n` minor page faults of this thread, all of them from user space. Nothing else of the call
// faults, once PrepareFaults() has run in this process.
void TouchFreshPages(std::uint64_t n);
// Brings in what this program has mapped (text, data, stack, heap), so that it no longer faults on
// it. A fork undoes that: both sides fault on what they share.
void PrepareFaults();

// `n` context switches of this thread, by handing its CPU to a partner, who hands it back. Exact
// while no other task wants the CPU (cpu.h: Undisturbed).
void SwitchContexts(std::uint64_t n);

// `n` moves of this thread from CPU to CPU: it ends on the first of the target's CPUs or, after an
// odd number of moves, on another one, and stays pinned there.
void Migrate(std::uint64_t n);

// Calls that take no argument, do nothing, and that nothing else in this program uses: the number
// of the one with that name; nullopt for a name that is none of them.
std::optional<std::uint16_t> CheapCall(std::string_view name);
// Makes one of them `n` times.
void CallSystem(std::uint16_t number, std::uint64_t n);

// How `n` instructions are made: two before the loop, one more for an odd number, two a round.
struct InstructionPlan {
  std::uint64_t rounds = 0;
  bool odd = false;
};
// nullopt for fewer than the shortest way through takes: four.
std::optional<InstructionPlan> PlanInstructions(std::uint64_t n);
// `n` instructions in user space, besides those of the call itself. Asserts where it has no code
// for the processor.
void ExecuteInstructions(std::uint64_t n);

// `n` increments by this thread, from user space, of every counter of arm64 processors that counts
// software increments (SW_INCR). What lets a program do that is the module refpmu_swinc.
void Increment(std::uint64_t n);

}  // namespace pmuconf

#endif  // PMUCONF_STIMULI_H_
