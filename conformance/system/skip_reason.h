// SPDX-License-Identifier: Apache-2.0
// The skip reasons of a case.
#ifndef PMUCONF_SYSTEM_SKIP_REASON_H_
#define PMUCONF_SYSTEM_SKIP_REASON_H_

#include <optional>
#include <string_view>

namespace pmuconf {

// The skip reason of a SKIP or BROKEN case. A SKIP with one of the first three leaves its rules
// open, because they are facts about the process or machine. kKernelLacks and kNotClaimed make a
// rule not applicable, and kKernelNewer leaves it without a judgement.
enum class SkipReason {
  kNone,
  kNotPermitted,  // this process lacks the privileges that cases need
  kNoSuchPmu,     // the machine has no PMU that matches the target file
  kNotQuiet,      // other tasks ran where the case counts every task
  kKernelLacks,   // the running kernel or machine lacks something that the case needs
  kKernelNewer,   // the case failed on a kernel that is newer than the rules
  kNotClaimed,    // the target file does not claim the capability
  kBroken,        // the setup of the case failed
};

std::string_view ToString(SkipReason skip_reason);  // "not_permitted"; "" for none
std::string_view Phrase(SkipReason skip_reason);    // "not permitted here"
bool LeavesRulesOpen(SkipReason skip_reason);
std::optional<SkipReason> SkipReasonFromString(std::string_view name);

}  // namespace pmuconf

#endif  // PMUCONF_SYSTEM_SKIP_REASON_H_
