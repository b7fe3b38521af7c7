// SPDX-License-Identifier: Apache-2.0
// Versions that have a bug, and reports of known bugs.
#include "report/kernel_bug.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/formats.h"
#include "report/verdict.h"
#include "report/waiver.h"
#include "selftest/toy_suite.h"
#include "target/target.h"

namespace pmuconf {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const KernelBug kBug = {.since = {"6.12.40", "6.16"},
                        .fixed = {"6.17.8", "6.18"},
                        .cause = "",
                        .fix = "0123456789ab (\"perf: fix\")"};

Affected In(const KernelBug& bug, std::string_view release) {
  return bug.In(*ParseKernelVersion(release));
}

TEST(KernelBug, BeginsAndEndsInEachSeries) {
  EXPECT_EQ(In(kBug, "6.1.192"), Affected::kOutside);
  EXPECT_EQ(In(kBug, "6.12.39+deb13-cloud-amd64"), Affected::kOutside);
  EXPECT_EQ(In(kBug, "6.12.40+deb13-cloud-amd64"), Affected::kYes);
  EXPECT_EQ(In(kBug, "6.15.9"), Affected::kOutside);
  EXPECT_EQ(In(kBug, "6.16.0"), Affected::kYes);
  EXPECT_EQ(In(kBug, "6.17.7"), Affected::kYes);
  EXPECT_EQ(In(kBug, "6.17.13-amd64"), Affected::kOutside);
  EXPECT_EQ(In(kBug, "6.18.1"), Affected::kOutside);
  EXPECT_EQ(In(kBug, "7.2.0-rc1"), Affected::kOutside);
}

TEST(KernelBug, IsPossibleIfThePatchLevelIsHidden) {
  EXPECT_EQ(In(kBug, "6.12.0-56-cloud-amd64"), Affected::kMaybe);
  EXPECT_EQ(In(kBug, "6.17.0-5-generic"), Affected::kMaybe);
  EXPECT_EQ(In(kBug, "6.16.0-5-generic"), Affected::kYes);
  EXPECT_EQ(In(kBug, "6.18.0-5-generic"), Affected::kOutside);
}

TEST(KernelBug, WithoutAFixHasNoEnd) {
  const KernelBug open = {.since = {"6.12"}, .fixed = {}, .cause = "", .fix = ""};
  EXPECT_EQ(In(open, "6.11.0"), Affected::kOutside);
  EXPECT_EQ(In(open, "9.9.9"), Affected::kYes);
  EXPECT_EQ(open.Range(), "from 6.12 on, no fix is known");
  EXPECT_EQ(kBug.Fixed(), "fixed in 6.17.8, 6.18 by 0123456789ab (\"perf: fix\")");
}

TEST(KernelVersion, TextWithoutAVersionIsRefused) {
  EXPECT_FALSE(ParseKernelVersion(""));
  EXPECT_FALSE(ParseKernelVersion("6"));
  EXPECT_FALSE(ParseKernelVersion("linux-6.1"));
}

TEST(KernelVersion, PackageHasThePatchLevelThatTheReleaseHides) {
  EXPECT_EQ(
      StableVersion("6.1.0-56-cloud-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-1 (2026-10-01)"),
      "6.1.192");
  EXPECT_EQ(StableVersion("6.18.44-fc", "#1 SMP PREEMPT_DYNAMIC @0"), "6.18.44-fc");
}

Target Toy() {
  return Target::Parse(R"([target]
name = "toy"
match = "toy"
kind = "software"
[[event]]
name = "page-faults"
accuracy = "exact"
)",
                       "t.toml");
}

Waiver Known() {
  Waiver waiver = {"CORE-1",          "perf", "r",     "l", "2026-12-31",
                   {"One.*"},         {"*"},  ">=6.1", "",  {Result::kFail, Result::kTimeout},
                   "list@example.org"};
  waiver.bug = kBug;
  return waiver;
}

Report JudgeOn(const std::string& release, Result result, bool guest_lost = false) {
  Stream stream;
  stream.target = "toy";
  stream.kernel = stream.release = release;
  stream.ended = true;
  for (const KnownCase& known : kSuite) {
    stream.selected.push_back(known.id);
    stream.results.push_back({known.id, Result::kPass, 0.1, "", {}});
  }
  stream.results.front().result = result;
  stream.results.front().guest_lost = guest_lost;
  const std::vector<Waiver> waivers = {Known()};
  return Judge(stream, Toy(), WholeCatalogue(kRules), kSuite, waivers, "2026-11-21");
}

TEST(KnownBug, FailureIsShownWithItsFix) {
  const Report report = JudgeOn("6.17.7", Result::kFail);
  EXPECT_EQ(report.verdict, Verdict::kConformant);
  EXPECT_EQ(report.cases.front().result, Result::kWaived);
  EXPECT_THAT(
      report.cases.front().waiver->text,
      StartsWith("known: fixed in 6.17.8, 6.18 by 0123456789ab (\"perf: fix\")\nwaiver CORE-1"));
}

TEST(KnownBug, FailureOutsideOfItsVersionsFails) {
  EXPECT_EQ(JudgeOn("6.17.8", Result::kFail).verdict, Verdict::kNotConformant);
  EXPECT_EQ(JudgeOn("6.15.1", Result::kFail).verdict, Verdict::kNotConformant);
}

TEST(KnownBug, PassIsReportedAndDecidesNothing) {
  const Report report = JudgeOn("6.17.7", Result::kPass);
  EXPECT_EQ(report.verdict, Verdict::kConformant);
  EXPECT_THAT(Summary(report), HasSubstr("  One.Holds passed in spite of the bug of CORE-1\n"));
  EXPECT_THAT(Summary(JudgeOn("6.17.8", Result::kPass)), Not(HasSubstr("in spite")));
  EXPECT_THAT(Summary(JudgeOn("6.17.0-5-generic", Result::kPass)), Not(HasSubstr("in spite")));
}

TEST(KnownBug, PatchLevelThatIsHiddenIsReported) {
  const Report report = JudgeOn("6.17.0-5-generic", Result::kFail);
  EXPECT_THAT(report.cases.front().waiver->text,
              HasSubstr("the patch level of this kernel is not known"));
}

TEST(KnownBug, ExcusesTheDeathOfAGuest) {
  EXPECT_EQ(JudgeOn("6.17.7", Result::kTimeout, true).verdict, Verdict::kConformant);
}

std::vector<Waiver> Parsed(const std::string& kernel, const std::string& scope = "") {
  const std::string text =
      "[[waiver]]\nid = \"X\"\nowner = \"perf\"\nreason = \"r\"\nlink = \"l\"\n"
      "expires = \"2027-12-31\"\n[waiver.scope]\ncase = \"A.*\"\ntarget = \"*\"\n" +
      scope + "[waiver.kernel]\n" + kernel;
  const std::vector<Owner> owners = {{"perf", "list@example.org", "PERF"}};
  return ParseWaivers(text, "w.toml", owners);
}

void ExpectRefused(const std::string& kernel, const std::string& why,
                   const std::string& scope = "") {
  try {
    Parsed(kernel, scope);
    ADD_FAILURE() << "accepted: " << kernel;
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr(why));
  }
}

TEST(KnownBug, FileIsReadStrictly) {
  const std::string good =
      "since = [\"6.16\"]\nfixed = [\"6.17.8\"]\nfix = '0123456789ab (\"p: f\")'\n";
  ASSERT_TRUE(Parsed(good).front().bug);
  EXPECT_EQ(Parsed(good).front().bug->fixed, std::vector<std::string>{"6.17.8"});
  const std::string no_id = "since = [\"6.16\"]\nfixed = [\"7.3\"]\nfix = '(\"p: f\")'\n";
  EXPECT_EQ(Parsed(no_id).front().bug->Fixed(), "fixed in 7.3 by (\"p: f\")");
  ExpectRefused("fixed = [\"6.17\"]\n", "since' is missing");
  ExpectRefused("since = [\"6\"]\n", "since' must be versions like");
  ExpectRefused("since = [\"6.17.0\"]\n", "since' must be versions like");
  ExpectRefused("since = [\"6.16\"]\nfix = '0123456789ab (\"p: f\")'\n", "fixed' is missing");
  ExpectRefused("since = [\"6.16\"]\ncause = \"p: f\"\n", "cause' must be like");
  ExpectRefused("since = [\"6.16\"]\nuntil = \"7.0\"\n", "until");
  ExpectRefused(good, "kernels' does not go with the table kernel", "kernels = \">=6.12\"\n");
}

}  // namespace
}  // namespace pmuconf
