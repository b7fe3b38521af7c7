// SPDX-License-Identifier: Apache-2.0
// `pmuconf new case` writes a case that fails, and refuses ids, rules and capabilities that do not
// exist.
#include "scaffold/new_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scaffold/case_text.h"
#include "scaffold/names.h"
#include "selftest/new_tree.h"

namespace pmuconf::scaffold {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class NewCaseFile : public NewTree {
 protected:
  Scaffold Make(const CaseRequest& request) const { return NewCase(Checkout(root()), request); }
  std::string Refused(const CaseRequest& request) const {
    return Refusal([&] { Make(request); });
  }
};

constexpr const char* kWhole = R"(// SPDX-License-Identifier: Apache-2.0
// Toy runs down.
#include "cases/common.h"
#include "rules/TOY.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Toys, ToyRunsDown, .rules = {rule::TOY_001},
                 .needs = {Cap::kStimulus, Cap::kManualClock}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec);

  event.Enable();
  target().Stimulate(spec, 1'000);
  event.Disable();
  FAIL() << "write the expectation of this case: " << rule::TOY_001.text;
}

}  // namespace
}  // namespace pmuconf
)";

TEST_F(NewCaseFile, NewFileHasOneFailingCase) {
  const Scaffold made =
      Make({.id = "Toys.ToyRunsDown", .rules = {"TOY-001"}, .needs = {"manual_clock"}, .file = ""});
  ASSERT_EQ(made.changes.size(), 1u);
  EXPECT_EQ(made.changes[0].path, "conformance/cases/toys/toy_runs_down_test.cpp");
  EXPECT_TRUE(made.changes[0].create);
  EXPECT_EQ(made.changes[0].text, kWhole);
  EXPECT_EQ(made.next, "make run CASE=Toys.ToyRunsDown");
}

TEST_F(NewCaseFile, TraceCaseOpensTheTrace) {
  const std::string text =
      Make({.id = "Toys.ToyRunsDown", .rules = {"TOY-001"}, .needs = {"trace"}, .file = ""})
          .changes[0]
          .text;
  EXPECT_THAT(text, AllOf(HasSubstr(".needs = {Cap::kTrace})"), HasSubstr("target().Trace();")));
  EXPECT_THAT(text, Not(HasSubstr("Stimul")));
}

TEST_F(NewCaseFile, CaseIsAppendedWithItsIncludes) {
  const std::string path = "conformance/cases/toys/all_test.cpp";
  const std::string before = Get(path);
  const Scaffold made =
      Make({.id = "Toys.ToyRunsDown", .rules = {"TOY-001", "BOX-001"}, .needs = {}, .file = path});
  EXPECT_EQ(made.changes[0].path, path);
  EXPECT_FALSE(made.changes[0].create);
  const std::string& text = made.changes[0].text;
  EXPECT_THAT(text, StartsWith("// Toys.\n#include <vector>\n\n#include \"cases/common.h\"\n"
                               "#include \"rules/BOX.h\"\n"
                               "#include \"rules/TOY.h\"\n\nnamespace pmuconf {\n"));
  EXPECT_THAT(text, HasSubstr(".rules = {rule::TOY_001}) {}\n\n"
                              "CONFORMANCE_CASE(Toys, ToyRunsDown,"));
  EXPECT_THAT(text, EndsWith("text;\n}\n\n}  // namespace\n}  // namespace pmuconf\n"));
  EXPECT_THAT(text, HasSubstr("rule::TOY_001, rule::BOX_001}"));
  EXPECT_EQ(Get(path), before) << "only Write() changes files";
}

TEST_F(NewCaseFile, DraftRuleOfTheCaseStaysADraft) {
  const Scaffold made = Make({.id = "Toys.ToyRunsDown",
                              .rules = {"TOY-002", "TOY-001", "BOX-001"},
                              .needs = {},
                              .file = ""});
  EXPECT_EQ(made.changes.size(), 1u);
  EXPECT_THAT(made.notes, ElementsAre("still a draft, until make activate: TOY-002, BOX-001",
                                      "replace FAIL() in the case by its expectation"));
}

TEST_F(NewCaseFile, FolderIsThatOfTheSuite) {
  const Scaffold made =
      Make({.id = "Bear.BearWakesUp", .rules = {"TOY-001"}, .needs = {}, .file = ""});
  EXPECT_EQ(made.changes[0].path, "conformance/cases/toys/bear_wakes_up_test.cpp");
}

TEST_F(NewCaseFile, UnknownRuleIsRefusedWithTheNearestIds) {
  EXPECT_THAT(Refused({.id = "Toys.ToyRunsDown", .rules = {"TOY-003"}, .needs = {}, .file = ""}),
              StartsWith("unknown rule 'TOY-003'; nearest: TOY-001, TOY-002, TOY-007, BOX-001"));
}

TEST_F(NewCaseFile, UnsuitableRulesAreRefused) {
  const auto refused = [&](const std::vector<std::string>& rules) {
    return Refused({.id = "Toys.ToyRunsDown", .rules = rules, .needs = {}, .file = ""});
  };
  EXPECT_THAT(refused({}), HasSubstr("no rule"));
  EXPECT_EQ(refused({"TOY-007"}), "rule TOY-007 is retired");
  EXPECT_EQ(refused({"TOY-001", "TOY-001"}), "rule TOY-001 is named twice");
}

TEST_F(NewCaseFile, ExistingAndOldIdsAreRefused) {
  EXPECT_EQ(Refused({.id = "Toys.ToyMakesNoise", .rules = {"TOY-001"}, .needs = {}, .file = ""}),
            "case Toys.ToyMakesNoise exists already: conformance/cases/toys/all_test.cpp");
  EXPECT_THAT(
      Refused({.id = "Toys.NoiseComesOfToys", .rules = {"TOY-001"}, .needs = {}, .file = ""}),
      HasSubstr("is the old id of Toys.ToyMakesNoise"));
}

TEST_F(NewCaseFile, IdThatIsNoClaimIsRefused) {
  for (const char* const id :
       {"", "Toys", "Toys.", "Toys.Noise", "Toys.toyMakesNoise", "Toys.Toy_Makes", "Toys.TOYMAKES",
        "toys.ToyRuns", ".ToyRuns", "Toys.ToyRuns.Down", "Toys.Toy Runs", "../Toys.ToyRuns"}) {
    EXPECT_THAT(Refused({.id = id, .rules = {"TOY-001"}, .needs = {}, .file = ""}),
                HasSubstr("must be an area and a claim in UpperCamelCase"))
        << id;
  }
  const std::string id = "Toys.Toy" + std::string(90, 'a') + "Runs";
  EXPECT_THAT(Refused({.id = id, .rules = {"TOY-001"}, .needs = {}, .file = ""}),
              HasSubstr("too long"));
}

TEST_F(NewCaseFile, UnknownCapabilityIsRefused) {
  EXPECT_THAT(Refused({.id = "Toys.ToyRunsDown",
                       .rules = {"TOY-001"},
                       .needs = {"stimulus", "manual_clok"},
                       .file = ""}),
              StartsWith("unknown capability 'manual_clok'; nearest: manual_clock,"));
}

TEST_F(NewCaseFile, UnknownAreaIsRefusedWithTheKnownOnes) {
  EXPECT_EQ(Refused({.id = "Tys.ToyRunsDown", .rules = {"TOY-001"}, .needs = {}, .file = ""}),
            "unknown area 'Tys' (known: Bear, Toys)");
}

TEST_F(NewCaseFile, FileThatHasTheCasesNameIsRefused) {
  Put("conformance/cases/toys/toy_runs_down_test.cpp", "");
  EXPECT_EQ(Refused({.id = "Toys.ToyRunsDown", .rules = {"TOY-001"}, .needs = {}, .file = ""}),
            "conformance/cases/toys/toy_runs_down_test.cpp exists already: append to it with "
            "--file conformance/cases/toys/toy_runs_down_test.cpp");
}

TEST_F(NewCaseFile, FileThatIsNoFileOfCasesIsRefused) {
  Put("conformance/cases/toys/trace.h", "");
  const auto refused = [&](const std::string& file) {
    return Refused({.id = "Toys.ToyRunsDown", .rules = {"TOY-001"}, .needs = {}, .file = file});
  };
  for (const char* const file :
       {"conformance/cases/toys/gone_test.cpp", "conformance/cases/toys/trace.h",
        "conformance/cases/toys", "conformance/rules/TOY.toml", "/etc/passwd"}) {
    EXPECT_THAT(refused(file), HasSubstr("must be an existing file conformance/cases/")) << file;
  }
  EXPECT_THAT(refused("conformance/cases/toys/bear_test.cpp"), HasSubstr("must end with"));
  Put("conformance/cases/toys/bare_test.cpp", "\n}  // namespace\n}  // namespace pmuconf\n");
  EXPECT_THAT(refused("conformance/cases/toys/bare_test.cpp"), HasSubstr("must include headers"));
}

TEST_F(NewCaseFile, OtherFolderIsNotACheckout) {
  EXPECT_THAT(Refusal([] { Checkout{testing::TempDir()}; }),
              AllOf(HasSubstr("is not a checkout of pmuconf"), HasSubstr("--root")));
}

TEST(NewCaseNames, ClaimHasSeveralWords) {
  EXPECT_TRUE(IsClaim("UserRegistersReport32BitAbi"));
  EXPECT_TRUE(IsClaim("ReadsZero"));
  EXPECT_FALSE(IsClaim("Reads"));
  EXPECT_FALSE(IsClaim("32BitReads"));
}

TEST(NewCaseNames, WordsBecomeSnakeCase) {
  EXPECT_EQ(SnakeCase("DisabledTimeIsNotCounted"), "disabled_time_is_not_counted");
  EXPECT_EQ(SnakeCase("PMIReturnsEPERM"), "pmi_returns_eperm");
  EXPECT_EQ(SnakeCase("Reports32BitAbi"), "reports32_bit_abi");
  EXPECT_EQ(CamelCase("fault_trace"), "FaultTrace");
  EXPECT_EQ(CamelCase("cpus2"), "Cpus2");
}

TEST(NewCaseNames, ListsBreakAtTheMargin) {
  const std::string text =
      NewFile({.suite = "Toys",
               .name = "ToyRunsDown",
               .rules = {"TOY-001", "TOY-002", "TOY-003", "TOY-004", "TOY-005", "TOY-006"},
               .needs = {"stimulus", "several_events"}});
  EXPECT_THAT(text, HasSubstr(R"(
CONFORMANCE_CASE(Toys, ToyRunsDown,
                 .rules = {rule::TOY_001, rule::TOY_002, rule::TOY_003, rule::TOY_004,
                           rule::TOY_005, rule::TOY_006},
                 .needs = {Cap::kStimulus, Cap::kSeveralEvents}) {
)"));
}

}  // namespace
}  // namespace pmuconf::scaffold
