// SPDX-License-Identifier: Apache-2.0
// Stimuli without a stimulus port: this program causes a known number of events itself. Every call
// throws Broken on failure.
#ifndef PMUCONF_STIMULUS_STIMULI_H_
#define PMUCONF_STIMULUS_STIMULI_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pmuconf {

// Causes `n` minor page faults of this thread, all from user space. The call causes no other fault
// if PrepareFaults() has run in this process.
void TouchFreshPages(std::uint64_t n);
// Populates all mappings of this program (text, data, stack, heap), so that they cause no more
// faults. A fork undoes this: parent and child then fault on shared pages.
void PrepareFaults();

// Causes `n` context switches of this thread: it passes its CPU to a partner thread, which passes
// it back. The number is exact if no other task wants the CPU (cpu.h: NoPreemption).
void SwitchContexts(std::uint64_t n);

// Migrates this thread `n` times between two CPUs and leaves it pinned there. It must run on one of
// them.
void Migrate(std::uint64_t n, int first_cpu, int second_cpu);

// Returns the number of a system call that takes no argument, has no effect, and is not used
// elsewhere in this program. nullopt if `name` is not such a call.
std::optional<std::uint16_t> CheapCall(std::string_view name);
// Makes one of these calls `n` times.
void CallSystem(std::uint64_t number, std::uint64_t n);

// Stores `n` times to one of the variables that only this call writes.
inline constexpr int kVariables = 4;
const volatile std::uint64_t* AddressOfVariable(std::uint64_t number);
void StoreTo(std::uint64_t number, std::uint64_t n);

// Returns where a function of this program begins in its file. Throws Broken if no file is mapped
// there. Nothing calls the function.
inline constexpr int kFunctions = 4;
std::uint64_t OffsetOfFunction(std::uint64_t number);

// Makes `n` software increments (SW_INCR) in user space, on every arm64 counter that counts them.
// User space may do that only while the module refpmu_swinc is loaded.
void Increment(std::uint64_t n);

}  // namespace pmuconf

#endif  // PMUCONF_STIMULUS_STIMULI_H_
