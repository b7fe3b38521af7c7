// SPDX-License-Identifier: Apache-2.0
// `pmuconf new target` writes a valid target file, and overwrites none.
#include "scaffold/new_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "selftest/new_tree.h"

namespace pmuconf::scaffold {
namespace {

using testing::HasSubstr;

class NewTargetFile : public NewTree {
 protected:
  Target Made(const TargetRequest& request) const {
    const Scaffold made = NewTarget(Checkout(root()), request);
    EXPECT_EQ(made.changes.size(), 1u);
    EXPECT_TRUE(made.changes[0].create);
    EXPECT_EQ(made.changes[0].path, "conformance/targets/" + request.name + ".toml");
    return Target::Parse(made.changes[0].text, root() + "/" + made.changes[0].path);
  }
  std::string Refused(const TargetRequest& request) const {
    return Refusal([&] { NewTarget(Checkout(root()), request); });
  }
};

TEST_F(NewTargetFile, FileAloneIsACompleteTarget) {
  const Target target = Made({.name = "yours", .base = "", .pmu = "cpu_\"x\""});
  EXPECT_EQ(target.name(), "yours");
  EXPECT_EQ(target.match(), "cpu_\"x\"");
  EXPECT_EQ(target.kind(), "core");
  EXPECT_EQ(target.claims().size(), 1u);
  EXPECT_EQ(Made({.name = "yours", .base = "", .pmu = ""}).match(), "yours");
}

TEST_F(NewTargetFile, FileAloneClaimsNoOptionalFeature) {
  const Target target = Made({.name = "yours", .base = "", .pmu = ""});
  for (const Cap cap : {Cap::kStimulus, Cap::kFrequency, Cap::kExcludes, Cap::kPrecise,
                        Cap::kBranches, Cap::kAddresses, Cap::kUserReads, Cap::kFilters}) {
    EXPECT_FALSE(target.Claims(cap)) << ToString(cap);
  }
}

TEST_F(NewTargetFile, FileWithABaseInheritsItsClaims) {
  const Target target = Made({.name = "yours", .base = "simple", .pmu = ""});
  EXPECT_EQ(target.name(), "yours");
  EXPECT_EQ(target.match(), "simple");
  EXPECT_EQ(target.kind(), "software");
  EXPECT_EQ(Made({.name = "yours", .base = "simple", .pmu = "other"}).match(), "other");
}

TEST_F(NewTargetFile, TablesInCommentsAreValid) {
  Put("conformance/targets/toy.toml",
      NewTarget(Checkout(root()), {.name = "toy", .base = "", .pmu = ""}).changes[0].text);
  const Scaffold made = NewTarget(Checkout(root()), {.name = "yours", .base = "toy", .pmu = ""});
  const std::string text = std::regex_replace(made.changes[0].text, std::regex("\n#(?! )"), "\n");
  const Target target = Target::Parse(text, root() + "/" + made.changes[0].path);
  EXPECT_EQ(target.claims().size(), 2u);
  EXPECT_EQ(target.general(), 4u);
  EXPECT_TRUE(target.Claims(Cap::kExcludes));
  EXPECT_TRUE(target.refusal("exclude_idle"));
}

TEST_F(NewTargetFile, NextCommandRunsIt) {
  EXPECT_EQ(NewTarget(Checkout(root()), {.name = "yours", .base = "simple", .pmu = ""}).next,
            "make run TARGET=conformance/targets/yours.toml");
  EXPECT_EQ(NewTarget(Checkout(root()), {.name = "yours", .base = "", .pmu = ""}).next,
            "build/guest/conformance/pmuconf run --target conformance/targets/yours.toml");
}

TEST_F(NewTargetFile, WrongArgumentsAreRefused) {
  for (const char* const name : {"", "Yours", "your-pmu", "../yours", "9x", "a b"}) {
    EXPECT_THAT(Refused({.name = name, .base = "", .pmu = ""}), HasSubstr("must begin with"))
        << name;
  }
  EXPECT_EQ(Refused({.name = "yours", .base = "nosuch", .pmu = ""}),
            "unknown --base 'nosuch' (known: simple)");
  EXPECT_THAT(Refused({.name = "yours", .base = "", .pmu = "/sys/devices/cpu"}),
              HasSubstr("not a path"));
  EXPECT_THAT(Refused({.name = "yours", .base = "", .pmu = "\x01"}), HasSubstr("yours.toml:"));
}

TEST_F(NewTargetFile, ExistingFileIsRefused) {
  EXPECT_EQ(Refused({.name = "simple", .base = "", .pmu = ""}),
            "conformance/targets/simple.toml exists already");
}

}  // namespace
}  // namespace pmuconf::scaffold
