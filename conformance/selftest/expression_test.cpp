// SPDX-License-Identifier: Apache-2.0
// The expressions of the catalogue, and the catalogue itself.
#include "target/expression.h"

#include <gtest/gtest.h>

#include "harness/rule.h"

namespace pmuconf {
namespace {

bool Applies(std::string_view text) {
  return EvaluateApplies(text, [](Cap cap) { return cap == Cap::kSampling; });
}

TEST(Applies, EvaluatesAndOrNotAndParentheses) {
  EXPECT_TRUE(Applies("true"));
  EXPECT_FALSE(Applies("false"));
  EXPECT_TRUE(Applies("sampling"));
  EXPECT_FALSE(Applies("bpf"));
  EXPECT_TRUE(Applies("sampling and not bpf"));
  EXPECT_TRUE(Applies("bpf or sampling"));
  EXPECT_TRUE(Applies("bpf and bpf or sampling"));
  EXPECT_FALSE(Applies("bpf and (bpf or sampling)"));
  EXPECT_FALSE(Applies("not (sampling or bpf)"));
  EXPECT_TRUE(Applies("not not sampling"));
}

TEST(Applies, RejectsInvalidExpressions) {
  for (const char* text : {"", "telepathy", "sampling bpf", "and", "not", "(sampling", "sampling)",
                           "sampling & bpf"}) {
    EXPECT_THROW(Applies(text), ConfigError) << text;
  }
}

TEST(Kernels, ComparesMajorAndMinorAsNumbers) {
  EXPECT_TRUE(KernelMatches(">=6.1", "6.12.117+deb12-cloud-amd64"));
  EXPECT_TRUE(KernelMatches(">=6.1,<6.12", "6.1.0-30-cloud-amd64"));
  EXPECT_FALSE(KernelMatches(">=6.1,<6.12", "6.12.1"));
  EXPECT_TRUE(KernelMatches("==6.12", "6.12.1"));
  EXPECT_TRUE(KernelMatches(">6.1", "6.2"));
  EXPECT_FALSE(KernelMatches("<=6.1", "6.10"));
}

TEST(Kernels, RejectsInvalidExpressions) {
  for (const char* text : {"", "6.1", ">=6", ">=x", "=>6.1", ">=6.1,", ">=6.1 <7.0"}) {
    EXPECT_THROW(KernelMatches(text, "6.12.1"), ConfigError) << text;
  }
  EXPECT_THROW(KernelMatches(">=6.1", "vanilla"), ConfigError);
}

TEST(Catalogue, EveryExpressionIsValid) {
  ASSERT_FALSE(AllRules().empty());
  for (const Rule& rule : AllRules()) {
    EXPECT_NO_THROW(Applies(rule.applies)) << rule.id;
    EXPECT_NO_THROW(KernelMatches(rule.kernels, "6.12.1")) << rule.id;
  }
}

TEST(Catalogue, FindsRulesById) {
  ASSERT_NE(FindRule("CNT-002"), nullptr);
  EXPECT_EQ(FindRule("CNT-002")->id, "CNT-002");
  EXPECT_EQ(FindRule("CNT-999"), nullptr);
}

}  // namespace
}  // namespace pmuconf
