// SPDX-License-Identifier: Apache-2.0
// Names of skip reasons.
#include "system/skip_reason.h"

#include <array>

namespace pmuconf {
namespace {

struct SkipReasonName {
  SkipReason skip_reason;
  std::string_view name;
  std::string_view phrase;
};
constexpr std::array<SkipReasonName, 8> kSkipReasons = {{
    {SkipReason::kNone, "", ""},
    {SkipReason::kNotPermitted, "not_permitted", "not permitted here"},
    {SkipReason::kNoSuchPmu, "no_such_pmu", "no such PMU"},
    {SkipReason::kNotQuiet, "not_quiet", "the machine is not quiet"},
    {SkipReason::kKernelLacks, "kernel_lacks", "kernel lacks it"},
    {SkipReason::kKernelNewer, "kernel_newer", "kernel is newer than the rules"},
    {SkipReason::kNotClaimed, "not_claimed", "target does not claim it"},
    {SkipReason::kBroken, "broken", "broken"},
}};

}  // namespace

std::string_view ToString(SkipReason skip_reason) {
  for (const SkipReasonName& known : kSkipReasons) {
    if (known.skip_reason == skip_reason) return known.name;
  }
  return "?";
}

std::string_view Phrase(SkipReason skip_reason) {
  for (const SkipReasonName& known : kSkipReasons) {
    if (known.skip_reason == skip_reason) return known.phrase;
  }
  return "?";
}

bool LeavesRulesOpen(SkipReason skip_reason) {
  return skip_reason == SkipReason::kNotPermitted || skip_reason == SkipReason::kNoSuchPmu ||
         skip_reason == SkipReason::kNotQuiet || skip_reason == SkipReason::kKernelNewer;
}

std::optional<SkipReason> SkipReasonFromString(std::string_view name) {
  for (const SkipReasonName& known : kSkipReasons) {
    if (known.name == name) return known.skip_reason;
  }
  return std::nullopt;
}

}  // namespace pmuconf
