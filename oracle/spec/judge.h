// SPDX-License-Identifier: Apache-2.0
// The checks of the specification. Each compares a prediction with an observation, and cites the
// rule that it follows.
#ifndef PMUCONF_ORACLE_SPEC_JUDGE_H_
#define PMUCONF_ORACLE_SPEC_JUDGE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/spec/interval.h"

namespace pmuconf {

enum class SpecCheck {
  kOpens,
  kGroupFits,
  kResult,
  kPeriod,
  kRefresh,
  kOutput,
  kPause,
  kMap,
  kMapInherited,
  kReadSize,
  kReadTooShort,
  kValue,
  kSoftwareValue,
  kEnabledTime,
  kRunningTime,
  kRunningWithinEnabled,
  kAllRunning,
  kId,
  kLost,
  kMembers,
  kHead,
  kRecordForm,
  kRecordKind,
  kSampleEvent,
  kSampleTask,
  kSampleMode,
  kSampleCpu,
  kSamplePeriod,
  kSampleAddress,
  kSampleValue,
  kSampleTime,
  kLostRecord,
  kTaskRecord,
  kTrailer,
  kPoll,
  kPollNoBuffer,
  kSignals,
  kSignalCode,
  kClockValue,
};
inline constexpr std::size_t kSpecChecks = static_cast<std::size_t>(SpecCheck::kClockValue) + 1;

struct SpecCheckRow {
  SpecCheck check;
  std::string_view rule;  // id in the catalogue
  std::string_view name;
};
const std::array<SpecCheckRow, kSpecChecks>& SpecChecks();
inline const SpecCheckRow& RowOf(SpecCheck check) {
  return SpecChecks()[static_cast<std::size_t>(check)];
}

// The known deviations. Each has a section in docs/findings.md, with these versions.
struct SpecFinding {
  std::string_view name;
  std::string_view since, fixed;  // versions that are separated by spaces
};
inline constexpr std::array<SpecFinding, 5> kSpecFindings = {
    {{"CORE-9", "6.12", ""},
     {"CORE-12", "6.1", "6.1.185 6.6.154 6.12.105 6.18.45 7.1.9 7.2"},
     {"moved group", "6.1", ""},
     {"freed member", "6.1", ""},
     {"group lost", "6.1", ""}}};

struct SpecDisagreement {
  SpecCheck check;
  std::string predicted;
  std::string observed;
  std::string finding;  // the known deviation that explains it, "" for none
};

class SpecJudge {
 public:
  void Compare(SpecCheck check, const Interval& predicted, std::uint64_t observed,
               std::string_view what = {}, std::string_view finding = {});
  void Expect(SpecCheck check, bool agrees, const std::string& predicted,
              const std::string& observed, std::string_view finding = {});
  void CannotJudge(SpecCheck check) { ++unknown_[static_cast<std::size_t>(check)]; }

  // Of the operations since Clear().
  const std::vector<SpecDisagreement>& disagreements() const { return disagreements_; }
  // Whether a check decided since Clear().
  bool judged() const { return judged_; }
  void Clear() {
    disagreements_.clear();
    judged_ = false;
  }
  // How often each check decided, and how often it had no prediction.
  const std::array<std::uint64_t, kSpecChecks>& decided() const { return decided_; }
  const std::array<std::uint64_t, kSpecChecks>& unknown() const { return unknown_; }

 private:
  std::array<std::uint64_t, kSpecChecks> decided_ = {}, unknown_ = {};
  std::vector<SpecDisagreement> disagreements_;
  bool judged_ = false;
};

}  // namespace pmuconf

#endif  // PMUCONF_ORACLE_SPEC_JUDGE_H_
