// SPDX-License-Identifier: Apache-2.0
// Behaviour that differs between kernels, where the contract permits each of several. A version
// does not show which one a kernel has: fixes are backported. So a case finds it by its effect. It
// accepts each value that the rule documents, and requires that the kernel is consistent: with
// itself, and with a probe (perf/kernel_behaviour.h) where other cases depend on the same
// behaviour.
#ifndef PMUCONF_HARNESS_BEHAVIOUR_H_
#define PMUCONF_HARNESS_BEHAVIOUR_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "harness/rule.h"

namespace pmuconf {

// Succeeds if the rule documents `value` for its behaviour `name`, and if each earlier call of this
// process for that behaviour had the same value. Throws Broken if the rule has no such behaviour.
testing::AssertionResult IsBehaviour(const Rule& rule, std::string_view name, std::int64_t value);

// Ends the case as SKIP, because the kernel lacks a part that no capability names.
[[noreturn]] void SkipWithout(std::string_view what);

}  // namespace pmuconf

#endif  // PMUCONF_HARNESS_BEHAVIOUR_H_
