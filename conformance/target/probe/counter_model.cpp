// SPDX-License-Identifier: Apache-2.0
#include "target/probe/counter_model.h"

#include <algorithm>
#include <bit>

#include "target/target_claims.h"

namespace pmuconf {
namespace {

constexpr int kMostSteps = 100'000;

// Chooses the sets one event after the other, and goes back where a later event has none.
class Search {
 public:
  Search(unsigned general, const std::vector<CounterUse>& uses) : general_(general), uses_(uses) {}

  bool Run() { return sets_.size() == uses_.size() || ChooseCell(0, 0); }
  std::vector<std::uint64_t> sets() const { return sets_; }

 private:
  // The counters from `first` on that are in the same sets as `first`. They are interchangeable.
  std::uint64_t CellOf(unsigned first) const {
    std::uint64_t cell = 0;
    for (unsigned i = first; i < general_; ++i) {
      const bool same = std::all_of(sets_.begin(), sets_.end(), [&](std::uint64_t set) {
        return (set >> i & 1) == (set >> first & 1);
      });
      if (same) cell |= std::uint64_t{1} << i;
    }
    return cell;
  }

  // Chooses how many counters of each cell the next event has, as `chosen` has for those in `seen`.
  bool ChooseCell(std::uint64_t chosen, std::uint64_t seen) {
    if (++steps_ > kMostSteps) return false;
    const CounterUse& use = uses_[sets_.size()];
    if (seen == LowBits(general_)) {
      if (!Fits(use, chosen)) return false;
      sets_.push_back(chosen);
      if (Run()) return true;
      sets_.pop_back();
      return false;
    }
    const std::uint64_t cell = CellOf(static_cast<unsigned>(std::countr_one(seen)));
    // The most first, so that a set takes the lowest counters.
    std::uint64_t part = cell;
    while (true) {
      const bool too_many = std::popcount(chosen | part) > static_cast<int>(use.own);
      if (!too_many && ChooseCell(chosen | part, seen | cell)) return true;
      if (part == 0) return false;
      part &= ~std::bit_floor(part);
    }
  }

  bool Fits(const CounterUse& use, std::uint64_t set) const {
    if (std::popcount(set) != static_cast<int>(use.own)) return false;
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      if (std::popcount(set & sets_[i]) != static_cast<int>(use.shared[i])) return false;
    }
    return true;
  }

  unsigned general_;
  const std::vector<CounterUse>& uses_;
  std::vector<std::uint64_t> sets_;
  int steps_ = 0;
};

// Finds a counter for event `i`, and others for the events that have one (the algorithm of Kuhn).
bool Place(const std::vector<std::uint64_t>& sets, std::size_t i, std::uint64_t* tried,
           std::map<unsigned, std::size_t>* owners) {
  for (unsigned counter = 0; counter < 64; ++counter) {
    const std::uint64_t bit = std::uint64_t{1} << counter;
    if ((sets[i] & bit) == 0 || (*tried & bit) != 0) continue;
    *tried |= bit;
    const auto owner = owners->find(counter);
    if (owner != owners->end() && !Place(sets, owner->second, tried, owners)) continue;
    (*owners)[counter] = i;
    return true;
  }
  return false;
}

}  // namespace

std::optional<std::vector<std::uint64_t>> AssignCounters(unsigned general,
                                                         const std::vector<CounterUse>& uses) {
  Search search(general, uses);
  if (!search.Run()) return std::nullopt;
  return search.sets();
}

unsigned PredictFitting(const std::vector<std::uint64_t>& sets) {
  std::map<unsigned, std::size_t> owners;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    std::uint64_t tried = 0;
    if (!Place(sets, i, &tried, &owners)) return static_cast<unsigned>(i);
  }
  return static_cast<unsigned>(sets.size());
}

unsigned MostFrequent(const std::vector<unsigned>& numbers) {
  std::map<unsigned, unsigned> votes;
  for (const unsigned number : numbers) ++votes[number];
  const auto most = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == votes.end() ? 0 : most->first;
}

std::string CountersText(std::uint64_t set) {
  std::string text;
  for (unsigned i = 0; i < 64; ++i) {
    if ((set >> i & 1) == 0) continue;
    const bool is_fixed = i >= kFixedBase;
    unsigned last = i;
    while (!is_fixed && last + 1 < kFixedBase && (set >> (last + 1) & 1) != 0) ++last;
    if (!text.empty()) text += ',';
    if (is_fixed) text += 'f';
    text += std::to_string(is_fixed ? i - kFixedBase : i);
    if (last > i) text.append("-").append(std::to_string(last));
    i = last;
  }
  return text;
}

}  // namespace pmuconf
