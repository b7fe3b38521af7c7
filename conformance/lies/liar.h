// SPDX-License-Identifier: Apache-2.0
// The lie of this process, and how it changes the fields of a call.
#ifndef PMUCONF_LIES_LIAR_H_
#define PMUCONF_LIES_LIAR_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lies/lie.h"
#include "lies/slots.h"

namespace pmuconf {

class Liar {
 public:
  explicit Liar(Lie lie);

  const Lie& lie() const { return lie_; }
  const LieEffect& effect() const { return lie_.effect; }

  // Whether the conditions are true for these fields. Counts the matches for `nth`. A condition
  // about a field that is not in `slots` is false.
  bool Applies(const Slots& slots);
  // Applies changes to the fields that exist.
  void Change(const std::vector<LieChange>& changes, Slots* slots);
  void ChangeRequest(Slots* slots) { Change(lie_.effect.request, slots); }
  void ChangeAnswer(Slots* slots) { Change(lie_.effect.answer, slots); }

  // The number of times that Applies() was true, also in child processes.
  std::uint64_t applied() const { return applied_->load(); }
  // Returns "the lie ID was on, and applied 3 times: TEXT".
  std::string Summary() const;

 private:
  Lie lie_;
  std::uint64_t matches_ = 0;
  std::atomic<std::uint64_t>* applied_;  // in memory that child processes share
  // The first value of each stale field and entry, or the sum of kAccumulate so far.
  std::map<std::pair<std::string, std::size_t>, std::uint64_t> first_;
};

// Makes `lie` the lie of this process. Cases receive it from then on; fixtures do not.
void TellLie(Lie lie);

// The lie of this process if the body of a case runs and the lie is about `call`; otherwise null.
Liar* LiarAbout(LieCall call);

// The lie of this process, or null.
const Liar* CurrentLiar();

// As fnmatch(3), without special treatment of slashes.
bool MatchesPath(const std::string& pattern, const std::string& path);

}  // namespace pmuconf

#endif  // PMUCONF_LIES_LIAR_H_
