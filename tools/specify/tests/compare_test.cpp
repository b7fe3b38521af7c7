// SPDX-License-Identifier: Apache-2.0
// The recordings are made here, with one observation that differs.
#include "tools/specify/compare.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "target/target.h"
#include "tools/specify/event_kinds.h"
#include "tools/specify/generate.h"
#include "tools/specify/record.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kPrograms = 3;

class CompareTest : public testing::Test {
 protected:
  // All is as predicted.
  static Recording Right(const std::string& kernel) {
    Recording recording;
    recording.name = "on-" + kernel;
    recording.run = {"refpmu", kernel, 3, 0};
    const TargetKinds kinds = KindsOf("refpmu");
    for (std::uint64_t number = 0; number < kPrograms; ++number) {
      RecordedProgram recorded;
      recorded.program = DrawProgram(kinds, "refpmu", 3, number);
      recorded.steps.resize(recorded.program.steps.size());
      for (FollowedStep& step : recorded.steps) step.judged = true;
      recording.programs.emplace(number, std::move(recorded));
    }
    return recording;
  }
  static SpecDisagreement Count(const std::string& predicted, const std::string& observed,
                                const std::string& finding = "") {
    return {SpecCheck::kValue, predicted, observed, finding};
  }
  FollowedStep& First(std::size_t step) { return first_.programs.at(0).steps.at(step); }
  FollowedStep& Second(std::size_t step) { return second_.programs.at(0).steps.at(step); }

  std::size_t Groups() { return Compare(first_, second_).groups.size(); }
  // There is one group.
  DifferenceGroup Only() {
    const Comparison result = Compare(first_, second_);
    EXPECT_EQ(result.groups.size(), 1u);
    return result.groups.empty() ? DifferenceGroup{} : result.groups[0];
  }
  std::string Refusal() {
    try {
      Compare(first_, second_);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  }

  Recording first_ = Right("6.1.192"), second_ = Right("6.12.117");
};

TEST_F(CompareTest, EqualObservationsDoNotDiffer) {
  const Comparison result = Compare(first_, second_);
  EXPECT_EQ(result.programs, kPrograms);
  EXPECT_GE(result.operations, kPrograms * kShortestProgram);
  EXPECT_TRUE(result.groups.empty());
  EXPECT_FALSE(result.HasNew());
}

TEST_F(CompareTest, ObservationThatOnlyOneKernelMakesIsNew) {
  Second(3).disagreements = {Count("5", "7")};
  const DifferenceGroup group = Only();
  EXPECT_EQ(group.difference, DifferenceClass::kNew);
  EXPECT_EQ(group.field, "CNT-005 a count");
  EXPECT_EQ(group.values[0], "as predicted");
  EXPECT_EQ(group.values[1], "7, predicted 5");
  EXPECT_EQ(group.shortest.steps.size(), 4u);
  EXPECT_TRUE(Compare(first_, second_).HasNew());
}

TEST_F(CompareTest, SameWrongObservationDoesNotDiffer) {
  First(3).disagreements = {Count("5", "7")};
  Second(3).disagreements = {Count("5", "7")};
  EXPECT_EQ(Groups(), 0u);
  Second(3).disagreements = {Count("5", "8")};
  EXPECT_EQ(Groups(), 1u);
  // Chance had a part in both counts.
  Second(3).disagreements = {Count("6", "8")};
  EXPECT_EQ(Groups(), 0u);
}

TEST_F(CompareTest, GroupHasItsShortestProgram) {
  for (std::uint64_t number = 0; number < kPrograms; ++number) {
    RecordedProgram& recorded = second_.programs.at(number);
    recorded.program.steps[4 - number] = recorded.program.steps[0];
    first_.programs.at(number).program = recorded.program;
    recorded.steps.at(4 - number).error = "EINVAL";
  }
  const DifferenceGroup group = Only();
  EXPECT_EQ(group.programs, (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(group.operation, "open");
  EXPECT_EQ(group.shortest.steps.size(), 3u);
}

TEST_F(CompareTest, ErrnoThatIsPredictedOnBothIsAKnownChange) {
  First(0).error = "EINVAL";
  First(0).rule = "INI-009";
  DifferenceGroup group = Only();
  EXPECT_EQ(group.difference, DifferenceClass::kKnownChange);
  EXPECT_EQ(group.reason, "INI-009");
  EXPECT_EQ(group.values, (std::array<std::string, 2>{"EINVAL", "0"}));
  // Without a prediction, nothing explains it.
  First(0).judged = false;
  EXPECT_EQ(Only().difference, DifferenceClass::kNew);
}

TEST_F(CompareTest, FindingExplainsOnlyAKernelThatHasIt) {
  first_.run.kernel = "6.1.100";
  First(3).disagreements = {Count("24", "40", "CORE-12")};
  DifferenceGroup group = Only();
  EXPECT_EQ(group.difference, DifferenceClass::kKnownFix);
  EXPECT_EQ(group.reason, "CORE-12");
  std::swap(first_, second_);
  EXPECT_EQ(Only().difference, DifferenceClass::kKnownRegression);
  std::swap(first_, second_);
  // Both kernels have it, and one showed it.
  second_.run.kernel = "6.12.100";
  EXPECT_EQ(Only().difference, DifferenceClass::kKnownDeviation);
  // The kernel has the fix.
  first_.run.kernel = "6.1.192";
  EXPECT_EQ(Only().difference, DifferenceClass::kNew);
}

TEST_F(CompareTest, NothingAfterTheFirstDifferenceIsCompared) {
  Second(1).error = "EINVAL";
  Second(2).disagreements = {Count("5", "7")};
  EXPECT_EQ(Only().field, "errno");
  // Chance decides here.
  First(1).free = Second(1).free = true;
  EXPECT_EQ(Groups(), 0u);
}

TEST_F(CompareTest, HangIsADifference) {
  RecordedProgram& recorded = second_.programs.at(1);
  recorded.steps.clear();
  recorded.ended = "hang";
  recorded.at = 2;
  const DifferenceGroup group = Only();
  EXPECT_EQ(group.difference, DifferenceClass::kNew);
  EXPECT_EQ(group.field, "end");
  EXPECT_EQ(group.values, (std::array<std::string, 2>{"ends", "hang"}));
  EXPECT_EQ(group.shortest.steps.size(), 3u);
}

TEST_F(CompareTest, NewDifferencesComeFirst) {
  First(0).error = "EINVAL";
  second_.programs.at(1).steps.at(2).disagreements = {Count("5", "7")};
  const Comparison result = Compare(first_, second_);
  ASSERT_EQ(result.groups.size(), 2u);
  EXPECT_EQ(result.groups[0].difference, DifferenceClass::kNew);
}

TEST_F(CompareTest, OtherProgramsAreRefused) {
  second_.run.seed = 4;
  EXPECT_EQ(Refusal(), "on-6.12.117: has seed 4, and on-6.1.192 has 3");
  second_.run = first_.run;
  second_.run.target = "software";
  EXPECT_EQ(Refusal(), "on-6.12.117: has target software, and on-6.1.192 has refpmu");
  second_.run = first_.run;
  second_.programs.at(0).program.steps.pop_back();
  EXPECT_NE(Refusal().find("program 0 is not that of on-6.1.192"), std::string::npos);
  second_.programs.clear();
  EXPECT_EQ(Refusal(), "on-6.12.117: has no program of on-6.1.192");
}

class RecordingTest : public CompareTest {
 protected:
  RecordingTest() : text_(RunLine(first_.run) + "\n") {
    for (const auto& [number, recorded] : first_.programs) {
      text_ += ProgramLine(number, recorded) + "\n";
    }
  }
  std::string Refusal(const std::string& text) {
    try {
      ParseRecording(text, "file");
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  }
  std::string text_;
};

TEST_F(RecordingTest, IsReadAsItWasWritten) {
  FollowedStep& step = First(2);
  step.error = "EINVAL";
  step.judged = false;
  step.free = true;
  step.rule = "INI-009";
  step.disagreements = {Count("5", "7", "CORE-9")};
  first_.programs.at(1).steps.clear();
  first_.programs.at(1).ended = "hang";
  first_.programs.at(1).at = 1;
  std::string text = RunLine(first_.run) + "\n";
  for (const auto& [number, recorded] : first_.programs) {
    text += ProgramLine(number, recorded) + "\n";
  }
  const Recording read = ParseRecording(text + EndLine() + "\n", "file");
  std::string again = RunLine(read.run) + "\n";
  for (const auto& [number, recorded] : read.programs) {
    again += ProgramLine(number, recorded) + "\n";
  }
  EXPECT_EQ(again, text);
  EXPECT_EQ(read.programs.at(0).steps.at(2).disagreements.at(0).finding, "CORE-9");
}

TEST_F(RecordingTest, TruncatedFileIsRefused) {
  const std::string whole = text_ + EndLine() + "\n";
  EXPECT_EQ(Refusal(whole), "");
  const std::string lost = "it was cut, or its machine was lost in the next one";
  EXPECT_EQ(Refusal(text_), "file: is truncated after 3 programs: " + lost);
  EXPECT_EQ(Refusal(text_.substr(0, text_.size() - 9)),
            "file: is truncated after 2 programs: " + lost);
}

TEST_F(RecordingTest, OtherFileIsRefused) {
  EXPECT_EQ(Refusal(""), "file: is no recording of pmuconf specify");
  EXPECT_EQ(Refusal("text\n"), "file:1: is no recording of pmuconf specify");
  EXPECT_EQ(Refusal(R"({"t":"run"})"
                    "\n"),
            "file:1: is no recording of pmuconf specify");
  EXPECT_EQ(Refusal(text_ + EndLine() + "\n" + EndLine() + "\n"),
            "file:6: follows the last line of the recording");
  EXPECT_THROW(LoadRecording("/no/such/file"), ConfigError);
}

}  // namespace
}  // namespace pmuconf
