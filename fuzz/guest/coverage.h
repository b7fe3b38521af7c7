// SPDX-License-Identifier: Apache-2.0
// Coverage of system calls in the kernel, for libFuzzer.
#ifndef PMUCONF_FUZZ_GUEST_COVERAGE_H_
#define PMUCONF_FUZZ_GUEST_COVERAGE_H_

#include <cstddef>
#include <cstdint>
#include <unordered_set>

#include "system/fd.h"

namespace pmuconf::fuzz {

// Reports to libFuzzer that an input reached `place`. A hash selects one of its counters.
void ReportPlace(std::uint64_t place);

// KCOV: the places in the kernel that the calls of one task reach, as recorded by the kernel.
class Coverage {
 public:
  // Throws Broken if the kernel does not have KCOV.
  Coverage();
  Coverage(const Coverage&) = delete;
  ~Coverage();

  // Records the calling task until Stop(), only one task at a time. A child of the owner may call
  // it.
  void Start() const;
  void Stop() const;
  // Counts the places that the last task reached.
  void Count();
  std::size_t places() const { return seen_.size(); }

 private:
  Fd fd_;
  std::uint64_t* area_ = nullptr;
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace pmuconf::fuzz

#endif  // PMUCONF_FUZZ_GUEST_COVERAGE_H_
