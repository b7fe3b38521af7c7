// SPDX-License-Identifier: Apache-2.0
// `explain` lists the tests of evidence.json, and reports when there is no such file.
#include "report/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "report/explain.h"
#include "target/target.h"

namespace pmuconf {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Rule kRule = {.id = "CNT-999",
                        .text = "The PMU MUST count.",
                        .why = "",
                        .source = "",
                        .applies = "true",
                        .kernels = ">=6.1",
                        .layer = "kunit"};

class EvidenceFile : public testing::Test {
 protected:
  Evidence Read(const std::string& text) const {
    std::ofstream(path_) << text;
    return ReadEvidence(path_);
  }
  std::string ErrorOf(const std::string& text) const {
    try {
      Read(text);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  }
  void TearDown() override { std::filesystem::remove(path_); }

  const std::string path_ = testing::TempDir() + "pmuconf-evidence-test.json";
};

TEST_F(EvidenceFile, TestsOfTheRuleAreListed) {
  const Evidence evidence = Read(R"({"tests": [
    {"rule": "CNT-999", "layer": "kunit", "name": "suite.counts", "file": "kunit/a.c"},
    {"rule": "CNT-999", "layer": "vm", "name": "test_counts", "file": "vm/tests/a_test.py"},
    {"rule": "CNT-998", "layer": "vm", "name": "test_other", "file": "vm/tests/b_test.py"}],
    "untested": []})");
  const std::string text = ExplainRule(kRule, {}, evidence);
  EXPECT_THAT(text, HasSubstr("KUnit:    suite.counts  kunit/a.c\n"));
  EXPECT_THAT(text, HasSubstr("pytest:   test_counts  vm/tests/a_test.py\n"));
  EXPECT_THAT(text, Not(HasSubstr("test_other")));
  EXPECT_THAT(text, Not(HasSubstr("untested")));
}

TEST_F(EvidenceFile, ReasonOfAnUntestedRuleIsPrinted) {
  const Evidence evidence =
      Read(R"({"tests": [], "untested": [{"rule": "CNT-999", "reason": "needs two sockets"}]})");
  EXPECT_THAT(ExplainRule(kRule, {}, evidence), HasSubstr("untested: needs two sockets\n"));
}

TEST_F(EvidenceFile, ActiveRuleWithoutTestAndReasonIsReported) {
  const Evidence evidence = Read(R"({"tests": [], "untested": []})");
  EXPECT_THAT(ExplainRule(kRule, {}, evidence), HasSubstr("untested: no reason is given\n"));
}

TEST_F(EvidenceFile, AbsentFileIsReported) {
  const std::string text = ExplainRule(kRule, {}, Evidence());
  EXPECT_THAT(text, HasSubstr("there is no evidence.json"));
  EXPECT_THAT(text, Not(HasSubstr("untested")));
}

TEST_F(EvidenceFile, InvalidFileIsAnErrorWithItsPath) {
  EXPECT_THAT(ErrorOf("{"), HasSubstr(path_));
  EXPECT_THAT(ErrorOf(R"({"tests": []})"), HasSubstr("untested"));
  EXPECT_THAT(ErrorOf(R"({"tests": [{"rule": 1}], "untested": []})"), HasSubstr(path_));
  std::filesystem::remove(path_);
  EXPECT_THROW(ReadEvidence(path_), ConfigError);
}

}  // namespace
}  // namespace pmuconf
