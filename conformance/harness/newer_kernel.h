// SPDX-License-Identifier: Apache-2.0
// Kernels that are newer than the rules. The core of such a kernel may differ from the rules, and
// that is no fault of the driver under test.
#ifndef PMUCONF_HARNESS_NEWER_KERNEL_H_
#define PMUCONF_HARNESS_NEWER_KERNEL_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/rule.h"

namespace pmuconf {

class Target;

// Returns the newest series whose rules apply to `target` ("7.2"): the key rules_of of its file, or
// the newest that the catalogue describes.
std::string NewestKernel(const Target& target);

bool IsNewer(const Target& target, std::string_view release);

// Returns the release that selects rules and their values: NewestKernel() for a newer kernel.
std::string ReleaseForRules(const Target& target, std::string_view release);

// Returns whether a failure of these rules on a newer kernel is not judged: each of them is about
// the perf core or the architecture.
bool NewerKernelMayDiffer(const std::vector<Rule>& rules);

}  // namespace pmuconf

#endif  // PMUCONF_HARNESS_NEWER_KERNEL_H_
