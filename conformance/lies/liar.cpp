// SPDX-License-Identifier: Apache-2.0
// Evaluates conditions and applies changes.
#include "lies/liar.h"

#include <fnmatch.h>
#include <sys/mman.h>

#include <cerrno>
#include <new>

#include "lies/answers.h"
#include "system/broken.h"
#include "system/context.h"

namespace pmuconf {

Liar::Liar(Lie lie) : lie_(std::move(lie)) {
  void* const shared =
      mmap(nullptr, sizeof(*applied_), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw BrokenErrno("memory of a lie", errno);
  applied_ = new (shared) std::atomic<std::uint64_t>(0);
}

std::string Liar::Summary() const {
  return "the lie " + lie_.id + " was on, and applied " + std::to_string(applied()) +
         " times: " + lie_.text;
}

bool Liar::Applies(const Slots& slots) {
  for (const LieCondition& condition : lie_.when) {
    const Slot* const slot = slots.Find(condition.field);
    if (slot == nullptr || !Matches(condition.any, slot->Get(), slot->Mask())) return false;
  }
  ++matches_;
  if (!lie_.nth.empty() && !Matches(lie_.nth, matches_, ~0ULL)) return false;
  ++*applied_;
  return true;
}

void Liar::Change(const std::vector<LieChange>& changes, Slots* slots) {
  for (const LieChange& change : changes) {
    std::size_t entry = 0;
    for (Slot& slot : slots->all()) {
      if (slot.name != change.field) continue;
      const std::uint64_t value = slot.Get();
      switch (change.operation) {
        case LieOperation::kSet:
          slot.Set(change.value);
          break;
        case LieOperation::kAdd:
          slot.Set(value + change.value);
          break;
        case LieOperation::kAccumulate:
          slot.Set(value + (first_[{change.field, entry}] += change.value));
          break;
        case LieOperation::kOr:
          slot.Set(value | change.value);
          break;
        case LieOperation::kClear:
          slot.Set(value & ~change.value);
          break;
        case LieOperation::kCopy:
          if (const Slot* const from = slots->Find(change.from)) slot.Set(from->Get());
          break;
        case LieOperation::kStale:
          slot.Set(first_.try_emplace({change.field, entry}, value).first->second);
          break;
      }
      ++entry;
    }
  }
}

namespace {

Liar* the_liar = nullptr;

}  // namespace

void TellLie(Lie lie) {
  the_liar = new Liar(std::move(lie));  // used until the process ends
  HookAnswers();
}

Liar* LiarAbout(LieCall call) {
  if (the_liar == nullptr) return nullptr;
  return the_liar->lie().call == call && context().in_body ? the_liar : nullptr;
}

const Liar* CurrentLiar() { return the_liar; }

bool MatchesPath(const std::string& pattern, const std::string& path) {
  return fnmatch(pattern.c_str(), path.c_str(), 0) == 0;
}

}  // namespace pmuconf
