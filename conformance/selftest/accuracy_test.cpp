// SPDX-License-Identifier: Apache-2.0
// The classes of accuracy.
#include "target/accuracy/accuracy.h"

#include <gtest/gtest.h>

#include <functional>

#include "target/accuracy/classify.h"

namespace pmuconf {
namespace {

// Five runs of each of three lengths. The long ones see three interrupts in even rounds, and four
// in odd ones.
std::vector<TruthRun> Runs(const std::function<std::uint64_t(const TruthRun&, int)>& count) {
  std::vector<TruthRun> runs;
  for (int round = 0; round < 5; ++round) {
    for (const std::uint64_t length : {1'001u, 100'001u, 4'000'001u}) {
      TruthRun run = {.length = length};
      if (length == 4'000'001u) run.interrupts = round % 2 == 0 ? 3 : 4;
      run.count = count(run, round);
      runs.push_back(run);
    }
  }
  return runs;
}

TEST(Accuracy, EqualCountsAreExact) {
  const AccuracyFinding found = Classify(Runs([](const TruthRun& run, int) { return run.length; }));
  EXPECT_EQ(found.kind, AccuracyClass::kExact);
  EXPECT_EQ(found.text, "exact");
  EXPECT_EQ(found.spread, 0.0);
}

TEST(Accuracy, EventsOfTheCommandAreNamed) {
  const AccuracyFinding found =
      Classify(Runs([](const TruthRun& run, int) { return run.length + 2; }));
  EXPECT_EQ(found.kind, AccuracyClass::kExact);
  EXPECT_EQ(found.text, "exact, plus 2 a command");
}

TEST(Accuracy, EventsOfInterruptsAreNamed) {
  const AccuracyFinding found =
      Classify(Runs([](const TruthRun& run, int) { return run.length + 1 + 2 * run.interrupts; }));
  EXPECT_EQ(found.kind, AccuracyClass::kPlusInterrupts);
  EXPECT_EQ(found.text, "exact, plus up to 2 an interrupt, plus 1 a command");
  EXPECT_DOUBLE_EQ(found.spread, 2 / 4'000'001.0);
}

TEST(Accuracy, ExcessWithoutAnInterruptIsNotOfInterrupts) {
  const AccuracyFinding found = Classify(Runs([](const TruthRun& run, int round) {
    return run.length + (run.length == 1'001 ? round : 0);
  }));
  EXPECT_EQ(found.kind, AccuracyClass::kBounded);
}

TEST(Accuracy, SmallDeviationIsABound) {
  const AccuracyFinding found = Classify(Runs([](const TruthRun& run, int round) {
    return run.length - run.length / 1'000 * static_cast<std::uint64_t>(round % 3);
  }));
  EXPECT_EQ(found.kind, AccuracyClass::kBounded);
  EXPECT_EQ(found.text, "within 0.2 %");
}

TEST(Accuracy, MultipleOfTheWorkIsProportional) {
  const AccuracyFinding found =
      Classify(Runs([](const TruthRun& run, int) { return 2 * run.length; }));
  EXPECT_EQ(found.kind, AccuracyClass::kProportional);
  EXPECT_EQ(found.text, "proportional only: 2 times");
}

TEST(Accuracy, CounterThatStandsStillIsWrong) {
  const AccuracyFinding found = Classify(Runs([](const TruthRun&, int) { return 0u; }));
  EXPECT_EQ(found.kind, AccuracyClass::kWrong);
  EXPECT_EQ(found.text, "it counts nothing");
}

TEST(Accuracy, CountsThatDoNotFollowTheWorkAreWrong) {
  const AccuracyFinding found = Classify(
      Runs([](const TruthRun&, int round) { return 500u + static_cast<unsigned>(round); }));
  EXPECT_EQ(found.kind, AccuracyClass::kWrong);
  EXPECT_EQ(found.text, "500 to 504 of 4000001");
}

TEST(Accuracy, OnlyNamedEventsAndCpusAreWrong) {
  const AccuracyFinding nothing = {.text = "it counts nothing"};
  PmuAccuracy accuracy;
  accuracy.events.push_back({.name = "mystery", .work = "", .finding = nothing});
  EXPECT_FALSE(accuracy.wrong());
  EXPECT_EQ(AccuracyTable(accuracy), "mystery  -             no known truth\n");
  accuracy.events.push_back({.name = "loads", .work = "loads", .named = true, .finding = nothing});
  EXPECT_TRUE(accuracy.wrong());
  accuracy.events.pop_back();
  accuracy.bad_cpus.emplace_back("CPU 3 counted 0 of 1001");
  EXPECT_TRUE(accuracy.wrong());
}

}  // namespace
}  // namespace pmuconf
