// SPDX-License-Identifier: Apache-2.0
// The features that a case uses, and that the configuration of a kernel may leave out.
//
//   CASE_USES(Init, KernelProbesCountCallsAndReturns, Feature::kKernelProbes);
//   CONFORMANCE_CASE(Init, KernelProbesCountCallsAndReturns, .rules = {rule::INI_018}) {
//
// If the kernel lacks a feature, the case is a SKIP before its body starts, and the reason names
// the option: "kernel lacks CONFIG_KPROBE_EVENTS". A case without this line is BROKEN on such a
// kernel.
#ifndef PMUCONF_HARNESS_USES_H_
#define PMUCONF_HARNESS_USES_H_

#include <string>
#include <vector>

#include "system/kernel_feature.h"

namespace pmuconf {

// Adds features to those of a case, which need not be registered yet. Returns true.
bool RegisterUses(const std::string& id, const std::vector<Feature>& features);

// The features that a case declares.
std::vector<Feature> UsesOf(const std::string& id);

// The ids with features, for a check that each has a case.
std::vector<std::string> IdsWithUses();

}  // namespace pmuconf

#define CASE_USES(Suite, Name, ...)                          \
  [[maybe_unused]] static const bool Suite##_##Name##_uses = \
      ::pmuconf::RegisterUses(#Suite "." #Name, {__VA_ARGS__})

#endif  // PMUCONF_HARNESS_USES_H_
