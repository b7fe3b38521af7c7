// SPDX-License-Identifier: Apache-2.0
// LAVA's signals on a console: their results, their order, and that they are lines of their own.
#include "report/lava.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "target/target.h"

namespace pmuconf {
namespace {

using testing::ElementsAre;

// Returns the lines that are not empty.
std::vector<std::string> Lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

CaseResult Row(const std::string& id, Result result) { return {id, result, 0.1, "", {}}; }

TEST(Lava, EachResultHasOneOfLava) {
  using enum Result;
  const auto fits = [](const std::vector<Result>& results, std::string_view word) {
    for (const Result result : results) EXPECT_EQ(LavaResult(result), word) << ToString(result);
  };
  fits({kPass}, "pass");
  fits({kFail, kTimeout, kCrash, kUnexpectedPass}, "fail");
  fits({kSkip, kWaived}, "skip");
  fits({kBroken, kNotRun}, "unknown");
  EXPECT_EQ(LavaResult(Verdict::kConformant), "pass");
  EXPECT_EQ(LavaResult(Verdict::kPartial), "pass");
  EXPECT_EQ(LavaResult(Verdict::kNotConformant), "fail");
  EXPECT_EQ(LavaResult(Verdict::kNotJudged), "unknown");
}

TEST(Lava, NameHasNoCharacterThatEndsAFieldOrASignal) {
  EXPECT_EQ(LavaName("Counting.Wraps-2_x"), "Counting.Wraps-2_x");
  EXPECT_EQ(LavaName("a b=c>d<e/f\n\xc3\xa9"), "a_b_c_d_e_f___");
  EXPECT_EQ(LavaName(""), "_");
}

TEST(Lava, CaseIsPrintedWhenItEnds) {
  std::ostringstream os;
  LavaSignals lava(&os);
  lava.Start("cpu");
  lava.Begin("One.Holds");
  lava.End(Row("One.Holds", Result::kFail));
  lava.Begin("One.Too");
  EXPECT_THAT(Lines(os.str()),
              ElementsAre("<LAVA_SIGNAL_TESTSET START cpu>", "<LAVA_SIGNAL_STARTTC One.Holds>",
                          "<LAVA_SIGNAL_ENDTC One.Holds>",
                          "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=One.Holds RESULT=fail>",
                          "<LAVA_SIGNAL_STARTTC One.Too>"));
}

// Keeps the text that was flushed.
class Console : public std::stringbuf {
 public:
  const std::string& flushed() const { return flushed_; }

 protected:
  int sync() override {
    flushed_ = str();
    return 0;
  }

 private:
  std::string flushed_;
};

TEST(Lava, EachSignalIsFlushed) {
  Console console;
  std::ostream os(&console);
  LavaSignals lava(&os);
  lava.Start("cpu");
  EXPECT_EQ(Lines(console.flushed()).size(), 1u);
  lava.Begin("One.Holds");
  EXPECT_EQ(Lines(console.flushed()).size(), 2u);
  lava.End(Row("One.Holds", Result::kPass));
  EXPECT_EQ(Lines(console.flushed()).size(), 4u);
}

TEST(Lava, SignalIsALineOfItsOwnAfterAnUnfinishedLine) {
  std::ostringstream os;
  os << "[    1.5] a message of the kernel without an end";
  LavaSignals lava(&os);
  lava.Begin("One.Holds");
  os << "[    1.6] another one";
  lava.End(Row("One.Holds", Result::kPass));
  for (const std::string& line : Lines(os.str())) {
    if (line.find("<LAVA") == std::string::npos) continue;
    EXPECT_EQ(line.front(), '<') << line;
    EXPECT_EQ(line.back(), '>') << line;
  }
}

TEST(Lava, ReportAddsWhatWasNotPrintedAndTheVerdict) {
  Report report;
  report.target = "cpu";
  report.verdict = Verdict::kNotConformant;
  report.cases = {Row("One.Holds", Result::kPass), Row("One.Too", Result::kNotRun)};
  LayerResults layer;
  layer.layer = "kunit";
  layer.cases = {Row("suite.test", Result::kFail)};
  report.layers = {layer};
  std::ostringstream os;
  {
    LavaSignals lava(&os);
    lava.Start("cpu");
    lava.Begin("One.Holds");
    lava.End(report.cases.front());
    os.str("");
    lava.Finish(report);
  }
  EXPECT_THAT(Lines(os.str()),
              ElementsAre("<LAVA_SIGNAL_STARTTC One.Too>", "<LAVA_SIGNAL_ENDTC One.Too>",
                          "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=One.Too RESULT=unknown>",
                          "<LAVA_SIGNAL_TESTSET STOP>", "<LAVA_SIGNAL_TESTSET START cpu.kunit>",
                          "<LAVA_SIGNAL_STARTTC suite.test>", "<LAVA_SIGNAL_ENDTC suite.test>",
                          "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=suite.test RESULT=fail>",
                          "<LAVA_SIGNAL_TESTSET STOP>", "<LAVA_SIGNAL_TESTSET START cpu>",
                          "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=verdict RESULT=fail>",
                          "<LAVA_SIGNAL_TESTSET STOP>"));
}

TEST(Lava, RunThatEndsWithoutAVerdictIsUnknown) {
  std::ostringstream os;
  { LavaSignals lava(&os); }
  EXPECT_THAT(Lines(os.str()),
              ElementsAre("<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=verdict RESULT=unknown>"));
  {
    LavaSignals lava(nullptr);
    lava.Start("cpu");
    lava.End(Row("One.Holds", Result::kPass));
  }
}

TEST(Lava, WaiversAreAppliedToACaseThatEnds) {
  const Target target = Target::Parse(R"([target]
name = "toy"
match = "toy"
kind = "core"
[counters]
general = 4
width = 48
[[event]]
name = "a"
counters = "0-3"
accuracy = "exact"
)",
                                      "toy.toml");
  Stream run;
  run.target = "toy";
  run.release = "6.12.1";
  Waiver waiver;
  waiver.id = "WVR-001";
  waiver.expires = "2026-12-31";
  waiver.cases = {"One.*"};
  waiver.targets = {"toy"};
  waiver.kernels = ">=6.1";
  const std::vector<Waiver> waivers = {waiver};
  const auto shown = [&](const std::string& id, Result result, std::string_view today) {
    return AsReported(Row(id, result), run, target, waivers, today).result;
  };
  EXPECT_EQ(shown("One.Holds", Result::kFail, "2026-11-21"), Result::kWaived);
  EXPECT_EQ(shown("One.Holds", Result::kPass, "2026-11-21"), Result::kUnexpectedPass);
  EXPECT_EQ(shown("One.Holds", Result::kFail, "2027-01-01"), Result::kFail);
  EXPECT_EQ(shown("Two.Holds", Result::kFail, "2026-11-21"), Result::kFail);
}

}  // namespace
}  // namespace pmuconf
