// SPDX-License-Identifier: Apache-2.0
// The command `pmuconf compare`: the same programs on two kernels, or with two drivers.
//
// An observation that is as predicted on both is equal: it is exact, or it is within what the ABI
// leaves free. So two observations differ if an errno differs, if only one is as predicted, or if
// both differ from the same prediction in different ways.
#ifndef PMUCONF_TOOLS_SPECIFY_COMPARE_H_
#define PMUCONF_TOOLS_SPECIFY_COMPARE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/repro/program.h"
#include "tools/specify/record.h"

namespace pmuconf {

struct CompareOptions {
  std::string first, second;  // recordings
};

enum class DifferenceClass { kNew, kKnownFix, kKnownRegression, kKnownDeviation, kKnownChange };

// The programs that differ in the same way.
struct DifferenceGroup {
  DifferenceClass difference = DifferenceClass::kNew;
  std::string reason;                      // the finding or the rule that explains it
  std::string operation;                   // "read", or "ioctl PERIOD"
  std::string field;                       // "errno", a check, or "end"
  std::array<std::string, 2> kinds = {};   // of the observations
  std::array<std::string, 2> values = {};  // in the shortest program
  std::vector<std::uint64_t> programs;     // their numbers
  Program shortest;                        // ends with the operation that differs
};

struct Comparison {
  std::uint64_t programs = 0, operations = 0;  // that were compared
  std::uint64_t alone = 0;                     // programs that only one recording has
  std::vector<DifferenceGroup> groups;         // new ones first

  bool HasNew() const;
};

// Throws ConfigError if the recordings do not have the same programs.
Comparison Compare(const Recording& first, const Recording& second);

// Prints the differences of two files. Returns the exit status: 0 if none is new, or else 1. Throws
// ConfigError.
int CompareFiles(const CompareOptions& options);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_SPECIFY_COMPARE_H_
