// SPDX-License-Identifier: Apache-2.0
// The table of checks, and their counts.
#include "oracle/spec/judge.h"

namespace pmuconf {
namespace {

constexpr std::array<SpecCheckRow, kSpecChecks> kRows = {{
    {SpecCheck::kOpens, "INI-001", "a valid event opens"},
    {SpecCheck::kGroupFits, "GRP-006", "a group opens if and only if its members fit"},
    {SpecCheck::kResult, "CTL-002", "the result of a call on an event"},
    {SpecCheck::kPeriod, "CTL-016", "the result of PERIOD"},
    {SpecCheck::kRefresh, "CTL-013", "the result of REFRESH"},
    {SpecCheck::kOutput, "RB-022", "the result of SET_OUTPUT"},
    {SpecCheck::kPause, "RB-013", "the result of PAUSE_OUTPUT"},
    {SpecCheck::kMap, "RB-003", "the result of mmap"},
    {SpecCheck::kMapInherited, "INH-010", "the result of mmap of an inherited event"},
    {SpecCheck::kReadSize, "RDF-006", "the size of a reading"},
    {SpecCheck::kReadTooShort, "RDF-007", "a reading that is longer than the buffer"},
    {SpecCheck::kValue, "CNT-005", "a count"},
    {SpecCheck::kSoftwareValue, "CNT-010", "a count of a software event"},
    {SpecCheck::kEnabledTime, "RDF-013", "the enabled time"},
    {SpecCheck::kRunningTime, "INH-025", "the running time"},
    {SpecCheck::kRunningWithinEnabled, "RDF-012", "running time within enabled time"},
    {SpecCheck::kAllRunning, "MUX-015", "running time as long as enabled time without contention"},
    {SpecCheck::kId, "RDF-003", "the id of an event"},
    {SpecCheck::kLost, "RDF-005", "the number of lost samples"},
    {SpecCheck::kMembers, "RDF-004", "the number of members of a group"},
    {SpecCheck::kHead, "RB-023", "the position of data_head"},
    {SpecCheck::kRecordForm, "REC-001", "the fields and the size of a record"},
    {SpecCheck::kRecordKind, "SMP-001", "the number of records and their kinds"},
    {SpecCheck::kSampleEvent, "REC-008", "the event of a sample"},
    {SpecCheck::kSampleTask, "REC-003", "the task of a sample"},
    {SpecCheck::kSampleMode, "REC-025", "the privilege level of a sample"},
    {SpecCheck::kSampleCpu, "REC-009", "the CPU of a sample"},
    {SpecCheck::kSamplePeriod, "REC-010", "the period in a sample"},
    {SpecCheck::kSampleAddress, "REC-026", "the data address of a sample without one"},
    {SpecCheck::kSampleValue, "RDF-019", "the values in a sample"},
    {SpecCheck::kSampleTime, "REC-004", "the time of a record"},
    {SpecCheck::kLostRecord, "RB-010", "the number in a LOST record"},
    {SpecCheck::kTaskRecord, "REC-105", "the tasks in a FORK or EXIT record"},
    {SpecCheck::kTrailer, "REC-024", "the fields at the end of a record"},
    {SpecCheck::kPoll, "SIG-006", "poll"},
    {SpecCheck::kPollNoBuffer, "SIG-010", "poll without a buffer"},
    {SpecCheck::kSignals, "SIG-005", "the number of signals"},
    {SpecCheck::kSignalCode, "SIG-002", "the code of the last signal"},
    {SpecCheck::kClockValue, "CNT-011", "a count of cpu-clock or task-clock"},
}};

constexpr bool InOrder() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].check) != i) return false;
  }
  return true;
}
static_assert(InOrder());

}  // namespace

const std::array<SpecCheckRow, kSpecChecks>& SpecChecks() { return kRows; }

void SpecJudge::Compare(SpecCheck check, const Interval& predicted, std::uint64_t observed,
                        std::string_view what, std::string_view finding) {
  const std::string prefix = what.empty() ? "" : std::string(what) + " ";
  Expect(check, predicted.Contains(observed), prefix + predicted.ToString(),
         prefix + std::to_string(observed), finding);
}

void SpecJudge::Expect(SpecCheck check, bool agrees, const std::string& predicted,
                       const std::string& observed, std::string_view finding) {
  ++decided_[static_cast<std::size_t>(check)];
  judged_ = true;
  if (!agrees) disagreements_.push_back({check, predicted, observed, std::string(finding)});
}

}  // namespace pmuconf
