// SPDX-License-Identifier: Apache-2.0
// `pmuconf new rule` appends a draft that the generator and `make lint` accept.
#include "scaffold/new_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scaffold/names.h"
#include "selftest/new_tree.h"

namespace pmuconf::scaffold {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

RuleText Rule() {
  return {.id = "TOY",
          .level = "MUST",
          .subject = "perf core",
          .text = "A toy MUST  work,\nwith \"batteries\" and without.",
          .why = "Toys matter.",
          .source = {"man:toy(2)#some words", "linux:kernel/toy.c#toy_work"}};
}

class NewRuleText : public NewTree {
 protected:
  Scaffold Make(const RuleText& rule) const { return NewRule(Checkout(root()), rule); }
  std::string Refused(const RuleText& rule) const {
    return Refusal([&] { Make(rule); });
  }
  std::string RefusedText(const std::string& text, const std::string& level = "MUST") const {
    RuleText rule = Rule();
    rule.text = text;
    rule.level = level;
    return Refused(rule);
  }
};

TEST_F(NewRuleText, DraftHasTheNextNumberAndAllKeys) {
  const Scaffold made = Make(Rule());
  ASSERT_EQ(made.changes.size(), 1u);
  EXPECT_EQ(made.changes[0].path, "conformance/rules/TOY.toml");
  EXPECT_FALSE(made.changes[0].create);
  EXPECT_THAT(made.changes[0].text, StartsWith(Get("conformance/rules/TOY.toml")));
  EXPECT_THAT(made.changes[0].text, EndsWith(R"(
[[rule]]
id      = "TOY-008"
level   = "MUST"
status  = "draft"
subject = "perf core"
text    = "A toy MUST work, with \"batteries\" and without."
why     = "Toys matter."
source  = ["man:toy(2)#some words", "linux:kernel/toy.c#toy_work"]
applies = "true"
kernels = ">=6.1"
)"));
  EXPECT_THAT(made.notes, ElementsAre(StartsWith("rule: TOY-008 ")));
  EXPECT_EQ(made.next, "build/guest/conformance/pmuconf new case Toys.NameOfClaim --rule TOY-008");
}

TEST_F(NewRuleText, LevelMayBeLower) {
  EXPECT_EQ(RefusedText("A toy MUST NOT burn."), "no error");
  EXPECT_EQ(RefusedText("A toy SHOULD NOT burn.", "SHOULD"), "no error");
  EXPECT_EQ(RefusedText("A toy MAY burn.", "MAY"), "no error");
}

TEST_F(NewRuleText, WrongTextIsRefused) {
  EXPECT_THAT(RefusedText("A toy works."), HasSubstr("exactly one MUST, SHOULD or MAY, not: none"));
  EXPECT_THAT(RefusedText(""), HasSubstr("exactly one MUST"));
  EXPECT_THAT(RefusedText("A toy MUST work and MUST NOT burn."), HasSubstr("not: MUST, MUST NOT"));
  EXPECT_THAT(RefusedText("A toy SHOULD work."), HasSubstr("needs MUST, MUST NOT"));
  EXPECT_THAT(RefusedText("A toy MAY NOT burn.", "MAY"), HasSubstr("has MAY NOT"));
  EXPECT_THAT(RefusedText("A toy MUST work"), HasSubstr("one sentence"));
  EXPECT_THAT(RefusedText("A toy MUST work. It is new."), HasSubstr("one sentence"));
  EXPECT_THAT(RefusedText("A toy MUST work.", "SHALL"), HasSubstr("--level 'SHALL'"));
}

TEST_F(NewRuleText, TextHasAtMostFortyWords) {
  std::string text = "A toy MUST";
  for (int i = 0; i < 36; ++i) text += " really";
  EXPECT_EQ(RefusedText(text + " - work."), "no error") << "a dash is no word";
  EXPECT_THAT(RefusedText(text + " really work."), HasSubstr("has 41 words, at most 40"));
}

TEST_F(NewRuleText, IncompleteRuleIsRefused) {
  RuleText rule = Rule();
  rule.why = " ";
  EXPECT_THAT(Refused(rule), HasSubstr("--why"));
  rule = Rule();
  rule.source = {};
  EXPECT_THAT(Refused(rule), HasSubstr("no --source"));
  for (const char* const source : {"", "toy(2)", "man:toy#x", "linux:kernel/toy.c", "linux:#toy"}) {
    rule.source = {source};
    EXPECT_THAT(Refused(rule), HasSubstr("must be linux:FILE#SYMBOL")) << source;
  }
  rule.source = {"linux:Documentation/toy.rst"};
  EXPECT_EQ(Refused(rule), "no error");
}

TEST_F(NewRuleText, UnknownSubjectIsRefusedWithTheKnownOnes) {
  RuleText rule = Rule();
  rule.subject = "toolmaker";
  EXPECT_EQ(Refused(rule),
            "--subject 'toolmaker' must be one of driver, perf core, architecture, suite");
}

TEST_F(NewRuleText, UnknownAreaIsRefusedWithTheKnownOnes) {
  RuleText rule = Rule();
  rule.id = "toy";
  EXPECT_EQ(Refused(rule), "unknown area 'toy' (known: BOX, TOY)");
}

TEST_F(NewRuleText, ControlCharacterIsRefused) {
  EXPECT_THAT(RefusedText("A toy MUST \x01 work."), HasSubstr("TOY.toml:"));
}

TEST_F(NewRuleText, FullAreaIsRefused) {
  Put("conformance/rules/BOX.toml", "[[rule]]\nid = \"BOX-999\"\nstatus = \"active\"\n");
  RuleText rule = Rule();
  rule.id = "BOX";
  EXPECT_EQ(Refused(rule), "area BOX has no free number below 1000");
}

}  // namespace
}  // namespace pmuconf::scaffold
