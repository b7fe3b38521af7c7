// SPDX-License-Identifier: Apache-2.0
// What system calls reached in the kernel, for libFuzzer to be led by.
#ifndef PMUCONF_FUZZ_GUEST_COVERAGE_H_
#define PMUCONF_FUZZ_GUEST_COVERAGE_H_

#include <cstddef>
#include <cstdint>
#include <unordered_set>

#include "pmuconf/fd.h"

namespace pmuconf::fuzz {

// Makes libFuzzer see that an input came by `place`: a hash says which of its counters is meant.
void CountPlace(std::uint64_t place);

// KCOV: places in the kernel that one task's calls come by, as the kernel writes them down.
class Coverage {
 public:
  // Throws Broken on a kernel that has it not.
  Coverage();
  Coverage(const Coverage&) = delete;
  ~Coverage();

  // Of the task that calls, until Stop(): one at a time. A child of who made this may do so.
  void Start() const;
  void Stop() const;
  // Counts the places of the last task.
  void Count();
  std::size_t places() const { return seen_.size(); }

 private:
  Fd fd_;
  std::uint64_t* area_ = nullptr;
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace pmuconf::fuzz

#endif  // PMUCONF_FUZZ_GUEST_COVERAGE_H_
