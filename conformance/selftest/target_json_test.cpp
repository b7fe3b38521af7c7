// SPDX-License-Identifier: Apache-2.0
// The description of a target has its base, its defaults, and a target file that reads the same.
#include "target/target_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "report/builtin.h"
#include "report/choose.h"

namespace pmuconf {
namespace {

constexpr const char* kBase = R"([target]
name = "base"
match = "base"
kind = "core"
slowness = 2.5
port = "/dev/base"
[vm]
parameters = "a=1 b=2"
smp = 4
[counters]
general = 4
width = 48
[[event]]
name = "a"
stimulus = "port"
code = 0x1f
counters = "0-3"
accuracy = "exact"
)";

std::optional<TargetText> FindToyBase(const std::string& name, const std::string& /*path*/) {
  if (name != "base") return std::nullopt;
  return TargetText{"base.toml", kBase};
}

nlohmann::json Described(const std::string& text) {
  return nlohmann::json::parse(TargetAsJson({"toy.toml", text}, FindToyBase));
}

TEST(TargetJson, OwnKeysOverrideThoseOfTheBase) {
  const auto json = Described(
      "base = \"base\"\n[target]\nname = \"toy\"\n[vm]\nsmp = 1\nicount = 3\narch = \"arm64\"\n"
      "work = [\"loads\", \"taken\"]\n");
  EXPECT_EQ(json["name"], "toy");
  EXPECT_EQ(json["path"], "toy.toml");
  EXPECT_EQ(json["slowness"], 2.5);
  EXPECT_EQ(json["vm"]["smp"], 1);
  EXPECT_EQ(json["vm"]["icount"], 3);
  EXPECT_EQ(json["vm"]["work"], nlohmann::json({"loads", "taken"}));
  EXPECT_EQ(json["vm"]["arch"], "arm64");
  EXPECT_EQ(json["vm"]["parameters"], "a=1 b=2");
}

TEST(TargetJson, AbsentKeysHaveDefaultsOrAreNull) {
  const auto json = Described("base = \"base\"\n[target]\nname = \"toy\"\n");
  EXPECT_EQ(json["vm"]["memory_mb"], 512);
  EXPECT_EQ(json["vm"]["cmdline"], "");
  EXPECT_EQ(json["vm"]["work"], nlohmann::json::array());
  for (const char* const key : {"arch", "kernel", "accel", "cpu", "icount"}) {
    EXPECT_TRUE(json["vm"][key].is_null()) << key;
  }
}

TEST(TargetJson, TargetWithAPortLoadsTheReferenceDriver) {
  EXPECT_EQ(Described("base = \"base\"\n[target]\nname = \"toy\"\n")["module"], "refpmu");
  EXPECT_EQ(
      Described("base = \"base\"\n[target]\nname = \"toy\"\n[vm]\nmodule = \"mine\"\n")["module"],
      "mine");
  EXPECT_TRUE(
      Described("base = \"base\"\n[target]\nname = \"toy\"\n[vm]\nkernel = \"msr\"\n")["module"]
          .is_null());
}

TEST(TargetJson, InvalidTargetIsAnErrorWithItsFile) {
  try {
    Described("base = \"base\"\n[target]\nname = \"toy\"\n[vm]\nsmp = 0\n");
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("toy.toml"));
    EXPECT_THAT(error.what(), testing::HasSubstr("smp"));
  }
}

TEST(TargetJson, MergedFileOfEachTargetReadsTheSame) {
  for (const BuiltinFile& file : BuiltinFiles()) {
    if (file.folder != "targets") continue;
    const TargetSource source = FindTarget(std::string(file.name));
    const std::string merged = MergedTarget(source.file, source.find_base);
    const auto none = [](const std::string&, const std::string&) {
      return std::optional<TargetText>();
    };
    EXPECT_EQ(MergedTarget({source.file.path, merged}, none), merged) << file.name;
    const Target before = LoadTarget(std::string(file.name));
    const Target after = Target::Parse(merged, "merged.toml", none);
    EXPECT_EQ(after.name(), before.name());
    EXPECT_EQ(after.module(), before.module()) << file.name;
    EXPECT_EQ(after.claims().size(), before.claims().size()) << file.name;
    for (const Cap cap : AllCaps()) {
      EXPECT_EQ(after.Claims(cap), before.Claims(cap)) << file.name << " " << ToString(cap);
    }
  }
}

}  // namespace
}  // namespace pmuconf
