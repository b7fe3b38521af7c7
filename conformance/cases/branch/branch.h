// SPDX-License-Identifier: Apache-2.0
// Helpers of the cases about branch stacks.
#ifndef PMUCONF_CASES_BRANCH_BRANCH_H_
#define PMUCONF_CASES_BRANCH_BRANCH_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "arch/arch.h"
#include "cases/record/kernel_symbol.h"
#include "harness/case.h"
#include "perf/ring.h"
#include "stimulus/branch_code.h"
#include "system/cpu.h"

namespace pmuconf {

inline constexpr std::uint64_t kAnyUserBranch = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
inline constexpr std::uint64_t kCallStack = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK;

// The default period is the shortest one that the target supports.
inline OpenOptions WithBranches(std::uint64_t filter, std::uint64_t period = target().min_period(),
                                unsigned precise = 0) {
  return {.sample_period = period,
          .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_BRANCH_STACK,
          .edit = [filter, precise](perf_event_attr& attr) {
            attr.branch_sample_type = filter;
            attr.precise_ip = precise & 3;
          }};
}

// Generates the events of one period of the default length.
inline void EndPeriod(const EventSpec& spec, const PulseOptions& options = {}) {
  target().Stimulate(spec, target().min_period(), options);
}

// `n` jumps of user code. Their addresses are distinct and start at `base`.
inline std::vector<Branch> Jumps(std::uint64_t base, std::uint64_t n) {
  std::vector<Branch> jumps;
  for (std::uint64_t i = 0; i < n; ++i) {
    jumps.push_back({.from = base + 16 * i, .to = base + 16 * i + 8});
  }
  return jumps;
}

inline Branch Call(std::uint64_t from, std::uint64_t to) {
  return {.from = from, .to = to, .kind = BranchKind::kCall};
}
inline Branch Return(std::uint64_t from, std::uint64_t to) {
  return {.from = from, .to = to, .kind = BranchKind::kReturn};
}

inline constexpr std::uint64_t kKernelCode = 0xffff'ffff'8100'0000;

// The address of an instruction that returns from an interrupt. A driver may check the instruction
// at that address. The first call takes longer than a real-time task may run: call it before
// NoPreemption.
inline std::uint64_t EndOfInterrupts() {
  if (processor::kInterruptReturn.empty()) return kKernelCode + 0x1000;
  static const std::uint64_t end = AddressOf(std::string(processor::kInterruptReturn));
  return end;
}

// A branch from user code into the kernel, one out of the kernel, and one within the kernel to
// offset `where` of its code.
inline Branch IntoKernel(std::uint64_t from) {
  return {
      .from = from, .to = kKernelCode, .kind = BranchKind::kFar, .privilege = Privilege::kKernel};
}
inline Branch OutOfKernel(std::uint64_t to) {
  return {.from = EndOfInterrupts(), .to = to, .kind = BranchKind::kFar};
}
inline Branch InKernel(std::uint64_t where) {
  Branch branch = OutOfKernel(kKernelCode + where);
  branch.privilege = Privilege::kKernel;
  return branch;
}

using FromTo = std::pair<std::uint64_t, std::uint64_t>;

inline std::vector<FromTo> FromTos(const Sample& sample) {
  std::vector<FromTo> stack;
  for (const perf_branch_entry& entry : *sample.branches) stack.push_back({entry.from, entry.to});
  return stack;
}

// The newest `n` of `branches`, newest first.
inline std::vector<FromTo> Newest(const std::vector<Branch>& branches, std::size_t n) {
  std::vector<FromTo> newest;
  for (auto it = branches.rbegin(); it != branches.rend() && newest.size() < n; ++it) {
    newest.push_back({it->from, it->to});
  }
  return newest;
}

// Generates one period of `spec` and returns the branch stack of its sample.
inline std::vector<FromTo> StackNow(const EventSpec& spec, Ring& ring) {
  EndPeriod(spec);
  const RingContents got = ring.Drain();
  if (got.samples.size() != 1) {
    ADD_FAILURE() << got.samples.size() << " samples of one period";
    return {};
  }
  return FromTos(got.samples[0]);
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_BRANCH_BRANCH_H_
