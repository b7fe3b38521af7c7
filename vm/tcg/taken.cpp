// SPDX-License-Identifier: Apache-2.0
#include "tcg/taken.h"

#include <cstddef>
#include <utility>

namespace pmuconf::work {
namespace {

// A signal may change the return address of a task, so some branches wait for ever.
constexpr std::size_t kMaxWaiting = 1024;

bool Precedes(const ConditionalBranch* branch, std::uint64_t address) {
  return address == branch->target || address == branch->fallthrough;
}

const ConditionalBranch* IfTaken(const ConditionalBranch* branch, std::uint64_t address) {
  return address == branch->fallthrough ? nullptr : branch;
}

}  // namespace

const ConditionalBranch* TakenBranches::Resolve(std::uint64_t address) {
  const ConditionalBranch* const last = std::exchange(last_, nullptr);
  const bool returned = std::exchange(returned_, false);
  if (last != nullptr) {
    if (Precedes(last, address)) return IfTaken(last, address);
    waiting_.push_back(last);
    if (waiting_.size() > kMaxWaiting) waiting_.pop_front();
    return nullptr;
  }
  if (!returned) return nullptr;
  for (auto at = waiting_.rbegin(); at != waiting_.rend(); ++at) {
    const ConditionalBranch* const branch = *at;
    if (!Precedes(branch, address)) continue;
    waiting_.erase(std::next(at).base());
    return IfTaken(branch, address);
  }
  return nullptr;
}

}  // namespace pmuconf::work
