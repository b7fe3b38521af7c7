// SPDX-License-Identifier: Apache-2.0
// Programs depend on their seed and number alone, have text, and are shortened without losing what
// they show.
#include "tools/specify/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "target/target.h"
#include "tools/repro/minimise.h"
#include "tools/specify/event_kinds.h"

namespace pmuconf {
namespace {

TEST(DrawProgram, IsDeterministicAndHasText) {
  for (const char* target : {"refpmu", "refpmu_uncore", "software", "tracepoint"}) {
    const TargetKinds kinds = KindsOf(target);
    for (std::uint64_t number = 0; number < 200; ++number) {
      const Program program = DrawProgram(kinds, target, 3, number);
      EXPECT_GE(program.steps.size(), kShortestProgram);
      EXPECT_LE(program.steps.size(), kLongestProgram);
      const std::string text = PrintProgram(program);
      EXPECT_EQ(PrintProgram(DrawProgram(kinds, target, 3, number)), text);
      EXPECT_EQ(PrintProgram(ParseProgram(text)), text);
    }
  }
}

TEST(DrawProgram, EachNumberGivesAnotherProgram) {
  const TargetKinds kinds = KindsOf("refpmu");
  std::set<std::string> texts;
  for (std::uint64_t number = 0; number < 100; ++number) {
    texts.insert(PrintProgram(DrawProgram(kinds, "refpmu", 1, number)));
  }
  EXPECT_EQ(texts.size(), 100u);
}

TEST(DrawProgram, UnknownTargetIsRefused) { EXPECT_THROW(KindsOf("amd"), ConfigError); }

TEST(Minimise, KeepsOnlyWhatShowsIt) {
  const TargetKinds kinds = KindsOf("refpmu");
  const auto has = [](const Program& program, Operation operation) {
    return std::any_of(program.steps.begin(), program.steps.end(),
                       [operation](const Step& step) { return step.operation == operation; });
  };
  unsigned tried = 0;
  for (std::uint64_t number = 0; number < 50; ++number) {
    const Program program = DrawProgram(kinds, "refpmu", 5, number);
    const auto shows = [&has](const Program& each) {
      return has(each, Operation::kPulse) && has(each, Operation::kRead);
    };
    if (!shows(program)) continue;
    ++tried;
    const Program shortest = Minimise(program, shows, [] { return false; });
    EXPECT_EQ(shortest.steps.size(), 2u);
    EXPECT_TRUE(shows(shortest));
    const auto pulse =
        std::find_if(shortest.steps.begin(), shortest.steps.end(),
                     [](const Step& step) { return step.operation == Operation::kPulse; });
    EXPECT_EQ(pulse->value, 1u);
  }
  EXPECT_GT(tried, 20u);
}

TEST(Minimise, StopsWhenItsTimeIsOver) {
  const TargetKinds kinds = KindsOf("refpmu");
  const Program program = DrawProgram(kinds, "refpmu", 5, 1);
  const Program same = Minimise(
      program, [](const Program&) { return true; }, [] { return true; });
  EXPECT_EQ(PrintProgram(same), PrintProgram(program));
}

}  // namespace
}  // namespace pmuconf
