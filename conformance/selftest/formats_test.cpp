// SPDX-License-Identifier: Apache-2.0
// The stream parser is strict, and reports are well-formed for any message.
#include "report/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/executor.h"
#include "report/stream.h"
#include "target/target.h"
#include "text/json_line.h"
#include "text/xml.h"

namespace pmuconf {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kRun =
    R"({"t":"run","target":"toy","kernel":"6.12","release":"6.12.1","arch":"x86_64","profile":"","selected":["A.B"],"partial":false})"
    "\n";
const std::string kPass =
    R"({"t":"result","id":"A.B","result":"PASS","duration_s":0.5,"message":"","rules":["CNT-002"]})"
    "\n";

Report ReportOf(Result result, const std::string& message) {
  Report report;
  report.target = "toy";
  report.kernel = "6.12";
  report.release = "6.12.1";
  report.cases.push_back({"Suite.Name", result, 0.25, message, {"CNT-002"}});
  report.totals.cases = 1;
  report.totals.failed = result == Result::kFail ? 1 : 0;
  return report;
}

TEST(Stream, IsRead) {
  const Stream stream = ParseStream(kRun + kPass +
                                        R"({"t":"kmsg","reports":["WARNING: x"]})"
                                        "\n"
                                        R"({"t":"unload","ok":false,"error":"busy"})"
                                        "\n"
                                        R"({"t":"end"})"
                                        "\n",
                                    "s");
  EXPECT_EQ(stream.target, "toy");
  EXPECT_TRUE(stream.ended);
  ASSERT_EQ(stream.results.size(), 1u);
  EXPECT_EQ(stream.results[0].result, Result::kPass);
  EXPECT_EQ(stream.problems.size(), 2u);
}

TEST(Stream, TruncatedStreamHasNoEnd) {
  const Stream stream = ParseStream(kRun + kPass + R"({"t":"en)", "s");
  EXPECT_FALSE(stream.ended);
  EXPECT_EQ(stream.results.size(), 1u);
}

TEST(Stream, ErrorNamesTheInvalidLine) {
  const auto error_of = [](const std::string& text) -> std::string {
    try {
      ParseStream(text, "s");
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(error_of(kRun + "junk\n" + kPass), HasSubstr("s:2: "));
  EXPECT_THAT(error_of(kPass), HasSubstr("s:1: "));
  EXPECT_THAT(error_of(kRun + kRun), HasSubstr("s:2: "));
  EXPECT_THAT(error_of(kRun + R"({"t":"result","id":"A.B"})"
                              "\n"),
              HasSubstr("s:2: "));
  EXPECT_THAT(
      error_of(kRun + R"({"t":"result","id":"A.B","result":"FINE","duration_s":0,"message":""})"
                      "\n"),
      HasSubstr("unknown result 'FINE'"));
  EXPECT_THAT(error_of(""), HasSubstr("is empty"));
  EXPECT_THAT(error_of("\n\n"), HasSubstr("is empty"));
  EXPECT_THAT(error_of(R"({"t":"ru)"), HasSubstr("s:1: is not a JSON object"));
  EXPECT_THAT(
      error_of(kRun + R"({"t":"result","id":"A.B","result":"F\nE","duration_s":0,"message":""})"
                      "\n"),
      HasSubstr("s:2: unknown result 'F?E'"));
}

TEST(JsonLine, TruncatesLongStringsToOneLine) {
  const std::string line = JsonLine({{"t", "x"}, {"message", std::string(200'000, '\n')}});
  EXPECT_LE(line.size(), kLineLimit);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_THAT(line, HasSubstr("[cut]"));
  EXPECT_EQ(nlohmann::json::parse(line)["t"], "x");
}

TEST(JsonLine, ReplacesInvalidUtf8) {
  const auto json = nlohmann::json::parse(JsonLine({{"message", "a\xff\xc3"}}));
  EXPECT_THAT(json["message"].get<std::string>(), HasSubstr("a\xef\xbf\xbd"));
}

TEST(Result, DecodesToWhatWasEncoded) {
  CaseResult result = {"A.B", Result::kFail, 1.0, "why\n", {}};
  result.stuck = true;
  CaseResult decoded;
  EXPECT_TRUE(DecodeResult(EncodeResult(result), &decoded));
  EXPECT_TRUE(decoded.stuck);
  EXPECT_EQ(decoded.result, Result::kFail);
  EXPECT_EQ(decoded.message, "why\n");
  for (const char* text : {"", "{}", "[1]", R"({"result":"OK","message":""})",
                           R"({"result":1,"message":""})", R"({"result":"PASS"})"}) {
    EXPECT_FALSE(DecodeResult(text, &decoded)) << text;
  }
}

TEST(Json, SkipNamesTheCapabilityAndItsCondition) {
  Report report = ReportOf(Result::kSkip, "needs trace");
  report.cases[0].capability = "trace";
  const auto json = nlohmann::json::parse(ToJson(report));
  EXPECT_EQ(json["cases"][0]["capability"], "trace");
  EXPECT_EQ(json["capabilities"], nlohmann::json({{"trace", "its kind is trace"}}));
}

TEST(Json, ResultNamesItsWaiverAndALostGuest) {
  Report report = ReportOf(Result::kWaived, "7, not 8");
  report.cases[0].waiver = AppliedWaiver{
      .id = "W-1", .reason = "known", .link = "l", .owner = "perf", .text = "waiver W-1"};
  report.cases[0].guest_lost = true;
  const auto row = nlohmann::json::parse(ToJson(report))["cases"][0];
  EXPECT_EQ(row["waiver"],
            nlohmann::json({{"id", "W-1"}, {"reason", "known"}, {"link", "l"}, {"owner", "perf"}}));
  EXPECT_EQ(row["guest_lost"], true);
  EXPECT_EQ(row["message"], "7, not 8");
}

TEST(Json, HasDocumentedKeys) {
  const auto json = nlohmann::json::parse(ToJson(ReportOf(Result::kFail, "bad \xff byte")));
  EXPECT_EQ(json["verdict"], "NOT_JUDGED");
  for (const char* key :
       {"target", "kernel", "release", "arch", "profile", "totals", "cases", "rules", "problems"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json["cases"][0]["result"], "FAIL");
  for (const char* key : {"cases", "passed", "failed", "skipped", "waived", "broken", "timeout",
                          "crash", "lost", "rules", "rules_passed"}) {
    EXPECT_TRUE(json["totals"].contains(key)) << key;
  }
}

TEST(Ktap, MessagesCannotEndLines) {
  EXPECT_EQ(ToKtap(ReportOf(Result::kSkip, "x\rok 1 A.B")),
            "KTAP version 1\n1..1\nok 1 Suite.Name # SKIP x?ok 1 A.B\n# all: NOT JUDGED: \n"
            "# NOT_JUDGED: \n");
  EXPECT_THAT(ToKtap(ReportOf(Result::kFail, "x\rok 1 A.B\ny")),
              HasSubstr("\n# x?ok 1 A.B\n# y\n"));
}

TEST(Summary, ProblemCannotImitateVerdict) {
  Report report = ReportOf(Result::kPass, "");
  report.problems = {"kernel log: x\nCONFORMANT: every MUST rule holds"};
  EXPECT_THAT(Summary(report),
              HasSubstr("  problem: kernel log: x?CONFORMANT: every MUST rule holds\n"));
}

TEST(Ktap, EachResultHasItsOwnLine) {
  EXPECT_EQ(ToKtap(ReportOf(Result::kPass, "")),
            "KTAP version 1\n1..1\nok 1 Suite.Name\n# all: NOT JUDGED: \n# NOT_JUDGED: \n");
  EXPECT_EQ(ToKtap(ReportOf(Result::kSkip, "needs bpf")),
            "KTAP version 1\n1..1\nok 1 Suite.Name # SKIP needs bpf\n# all: NOT JUDGED: \n"
            "# NOT_JUDGED: \n");
  EXPECT_THAT(ToKtap(ReportOf(Result::kFail, "line 1\nline 2")),
              AllOf(HasSubstr("KTAP version 1\n1..1\n# line 1\n# line 2\n# rule CNT-002 (MUST): "),
                    HasSubstr("\nnot ok 1 Suite.Name\n")));
  EXPECT_THAT(ToKtap(ReportOf(Result::kCrash, "oops")), HasSubstr("not ok 1 Suite.Name # CRASH"));
}

TEST(Reports, FailureHasAllFactsForAnalysis) {
  Report report = ReportOf(Result::kFail, "count was 7\nopened: type=17: open");
  report.repro_command = "make run KERNEL=6.12 CASE=";
  report.rules.push_back({*FindRule("CNT-002"), RuleResult::kFailed});
  for (const std::string& text : {Summary(report), ToKtap(report), ToJunit(report)}) {
    EXPECT_THAT(text, HasSubstr("count was 7"));
    EXPECT_THAT(text, HasSubstr("opened: type=17: open"));
    EXPECT_THAT(text, HasSubstr("rule CNT-002 (MUST): "));
    EXPECT_THAT(text, HasSubstr("why CNT-002: "));
    EXPECT_THAT(text, HasSubstr("repro: make run KERNEL=6.12 CASE=Suite.Name"));
  }
  const auto json = nlohmann::json::parse(ToJson(report));
  EXPECT_EQ(json["cases"][0]["repro"], "make run KERNEL=6.12 CASE=Suite.Name");
}

TEST(Reports, EveryFormatShowsSkipReason) {
  Report report = ReportOf(Result::kSkip, "needs bpf");
  report.cases[0].skip_reason = SkipReason::kNotClaimed;
  report.totals.skip_reasons = {{SkipReason::kNotClaimed, 1}};
  EXPECT_THAT(Summary(report), HasSubstr("without an answer: 1 target does not claim it"));
  EXPECT_THAT(Summary(report), HasSubstr("skipped, target does not claim it: needs bpf: Suite.N"));
  EXPECT_THAT(ToKtap(report), HasSubstr("# SKIP target does not claim it: needs bpf\n"));
  EXPECT_THAT(ToJunit(report), HasSubstr("<skipped type=\"SKIP.not_claimed\""));
  const auto json = nlohmann::json::parse(ToJson(report));
  EXPECT_EQ(json["cases"][0]["skip_reason"], "not_claimed");
  EXPECT_EQ(json["skip_reasons"]["not_claimed"], 1);
  EXPECT_EQ(json["skip_reasons"]["not_permitted"], 0);
}

TEST(Reports, NamePreemptedCases) {
  Report report = ReportOf(Result::kPass, "");
  EXPECT_THAT(Summary(report), Not(HasSubstr("again")));
  EXPECT_FALSE(nlohmann::json::parse(ToJson(report))["cases"][0].contains("runs"));
  report.cases[0].runs = 3;
  EXPECT_THAT(Summary(report), HasSubstr("run again, because they were disturbed: Suite.Name\n"));
  EXPECT_EQ(nlohmann::json::parse(ToJson(report))["cases"][0]["runs"], 3);
}

TEST(Stream, HasCapabilityAndLostGuest) {
  const std::string skip =
      R"({"t":"result","id":"A.B","result":"SKIP","duration_s":0.5,"message":"needs trace",)"
      R"("skip_reason":"not_claimed","capability":"trace","rules":["CNT-002"]})"
      "\n";
  EXPECT_EQ(ParseStream(kRun + skip, "s").results[0].capability, "trace");
  EXPECT_FALSE(ParseStream(kRun + skip, "s").results[0].guest_lost);
  const std::string lost =
      R"({"t":"result","id":"A.B","result":"CRASH","duration_s":0.5,"message":"guest lost: x",)"
      R"("guest_lost":true,"rules":["CNT-002"]})"
      "\n";
  EXPECT_TRUE(ParseStream(kRun + lost, "s").results[0].guest_lost);
}

TEST(Stream, HasNumberOfRuns) {
  const std::string pass =
      R"({"t":"result","id":"A.B","result":"PASS","duration_s":0.5,"message":"","rules":[])";
  EXPECT_EQ(ParseStream(kRun + pass + "}\n", "s").results[0].runs, 1);
  EXPECT_EQ(ParseStream(kRun + pass + ",\"runs\":2}\n", "s").results[0].runs, 2);
}

TEST(Stream, HasTheSkipReasonOfAResult) {
  const std::string skip =
      R"({"t":"result","id":"A.B","result":"SKIP","duration_s":0.5,"message":"","rules":[],)"
      R"("skip_reason":")";
  const Stream stream = ParseStream(kRun + skip + "kernel_lacks\"}\n", "s");
  EXPECT_EQ(stream.results[0].skip_reason, SkipReason::kKernelLacks);
  EXPECT_THROW(ParseStream(kRun + skip + "bad_weather\"}\n", "s"), ConfigError);
}

TEST(SkipReasons, NamesParseToTheirSkipReason) {
  for (const SkipReason skip_reason :
       {SkipReason::kNone, SkipReason::kNotPermitted, SkipReason::kNoSuchPmu, SkipReason::kNotQuiet,
        SkipReason::kKernelLacks, SkipReason::kKernelNewer, SkipReason::kNotClaimed,
        SkipReason::kBroken}) {
    EXPECT_EQ(SkipReasonFromString(ToString(skip_reason)), skip_reason);
  }
  EXPECT_EQ(SkipReasonFromString("bad_weather"), std::nullopt);
}

TEST(Junit, EscapesAndReplaces) {
  const std::string xml = ToJunit(ReportOf(Result::kFail, "<a href=\"x\"> & \x01 \xff ]]>"));
  EXPECT_THAT(xml,
              HasSubstr("&lt;a href=&quot;x&quot;&gt; &amp; \xef\xbf\xbd \xef\xbf\xbd ]]&gt;"));
  EXPECT_THAT(xml, HasSubstr("failures=\"1\""));
  EXPECT_THAT(xml, HasSubstr("<failure type=\"FAIL\""));
}

TEST(Junit, ReplacesInvalidXmlCharacters) {
  EXPECT_EQ(XmlEscape("\xc3\xa4\t\n"), "\xc3\xa4\t\n");
  EXPECT_EQ(XmlEscape("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // a surrogate
  EXPECT_EQ(XmlEscape("\xc0\x80"), "\xef\xbf\xbd\xef\xbf\xbd");                  // overlong
  EXPECT_EQ(XmlEscape("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");                  // truncated
}

TEST(Summary, NamesFailuresAndReproCommands) {
  Report report = ReportOf(Result::kFail, "count was 7\x1b[2J");
  report.verdict = Verdict::kNotConformant;
  report.reason = "failed: CNT-002";
  report.repro_command = "make run KERNEL=6.12 CASE=";
  const std::string text = Summary(report);
  EXPECT_THAT(text, HasSubstr("FAIL  Suite.Name"));
  EXPECT_THAT(text, HasSubstr("count was 7?[2J"));
  EXPECT_THAT(text, HasSubstr("rule CNT-002 (MUST): "));
  EXPECT_THAT(text, HasSubstr("why CNT-002: "));
  EXPECT_THAT(text, HasSubstr("repro: make run KERNEL=6.12 CASE=Suite.Name"));
  EXPECT_THAT(text, HasSubstr("NOT CONFORMANT: failed: CNT-002\n"));
}

TEST(Summary, NamesSkippedCasesAndReasons) {
  EXPECT_THAT(Summary(ReportOf(Result::kSkip, "needs bpf")),
              HasSubstr("skipped, needs bpf: Suite.Name\n"));
}

TEST(Summary, CountsManySkippedCasesBySuite) {
  Report report = ReportOf(Result::kSkip, "needs bpf");
  for (const char* id : {"Suite.Two", "Other.One", "Other.Two", "Other.Three"}) {
    report.cases.push_back(report.cases.front());
    report.cases.back().id = id;
  }
  EXPECT_THAT(Summary(report), HasSubstr("skipped, needs bpf: Suite.Name Suite.Two Other.One"));
  report.cases.push_back(report.cases.front());
  EXPECT_THAT(Summary(report), HasSubstr("skipped, needs bpf: 3 Other, 3 Suite\n"));
}

TEST(Reports, FailedWriteLeavesNoReport) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("pmuconf-" + std::to_string(getpid()));
  // A directory prevents the last report.
  std::filesystem::create_directories(folder / "junit.xml");
  const Report report;
  try {
    WriteReports(report, folder);
    ADD_FAILURE() << "written over a folder";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr((folder / "junit.xml").string()));
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::remove(folder / "junit.xml");
  WriteReports(report, folder);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 3);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace pmuconf
