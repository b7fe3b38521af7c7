// SPDX-License-Identifier: Apache-2.0
// Finds out whether conditional branches are taken, from the blocks that follow them.
#ifndef PMUCONF_VM_TCG_TAKEN_H_
#define PMUCONF_VM_TCG_TAKEN_H_

#include <cstdint>
#include <deque>

namespace pmuconf::work {

struct ConditionalBranch {
  std::uint64_t target = 0;
  std::uint64_t fallthrough = 0;
  unsigned privilege = 0;
};

// The branches of one CPU whose successors are not known yet.
//
// An interrupt or a fault may come between a branch and its successor. The branch then waits for an
// interrupt return to one of its two successors. Branches of several tasks may wait at a time. It
// does not matter which of two equal branches a return belongs to: both return in the end.
class TakenBranches {
 public:
  void Execute(const ConditionalBranch* branch) { last_ = branch; }
  void ReturnFromInterrupt() { returned_ = true; }

  // A block starts at `address`. Returns the branch that is thereby known to be taken, or null.
  const ConditionalBranch* Start(std::uint64_t address) {
    if (last_ == nullptr && !returned_) return nullptr;
    return Resolve(address);
  }

 private:
  const ConditionalBranch* Resolve(std::uint64_t address);

  const ConditionalBranch* last_ = nullptr;
  bool returned_ = false;
  std::deque<const ConditionalBranch*> waiting_;
};

}  // namespace pmuconf::work

#endif  // PMUCONF_VM_TCG_TAKEN_H_
