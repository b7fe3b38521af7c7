// SPDX-License-Identifier: Apache-2.0
#include "target/calibration.h"

#include <algorithm>

#include "stimulus/work/work.h"

namespace pmuconf {
namespace {

constexpr int kRounds = 3;
// Odd numbers: one command executes exactly that many instructions.
constexpr std::uint64_t kLengths[] = {101, 1'001, 10'001};
constexpr std::uint64_t kMostExtra = 1'000;
constexpr WorkKind kKinds[] = {WorkKind::kInstructions, WorkKind::kBranches, WorkKind::kLoads,
                               WorkKind::kStores, WorkKind::kCalls};

std::vector<WorkCount> Measure(WorkKind kind, Worker& worker,
                               const std::function<OpenResult(pid_t)>& open) {
  std::vector<WorkCount> counts;
  for (int round = 0; round < kRounds; ++round) {
    for (const std::uint64_t length : kLengths) {
      const OpenResult opened = open(worker.pid());
      if (!opened.ok() || !opened.event.TryEnable().ok()) return {};
      worker.Run(kind, length);
      opened.event.Disable();
      counts.push_back({length, opened.event.Read().value});
    }
  }
  return counts;
}

}  // namespace

Calibration Combine(WorkKind kind, const std::vector<WorkCount>& counts) {
  Calibration found;
  found.kind = kind;
  if (counts.empty()) {
    found.text = "does not open for another task in user mode alone";
    return found;
  }
  const std::uint64_t extra = counts.front().count - counts.front().length;
  const bool exact =
      extra <= kMostExtra && std::all_of(counts.begin(), counts.end(), [&](const WorkCount& c) {
        return c.count == c.length + extra;
      });
  if (exact) found.extra = static_cast<std::uint32_t>(extra);
  found.text = "counted";
  const char* separator = " ";
  for (const WorkCount& c : counts) {
    found.text += separator + std::to_string(c.count) + " in " + std::to_string(c.length);
    separator = ", ";
  }
  found.text += ' ';
  found.text += ToString(kind);
  return found;
}

Calibration Calibrate(const std::function<OpenResult(pid_t)>& open) {
  Worker worker;
  Calibration first;
  for (const WorkKind kind : kKinds) {
    const Calibration found = Combine(kind, Measure(kind, worker, open));
    if (found.extra) return found;
    if (kind == kKinds[0]) first = found;
  }
  return first;
}

}  // namespace pmuconf
