// SPDX-License-Identifier: Apache-2.0
// The output formats of `profile`, for known stacks.
#include "tools/profile/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace pmuconf::profile {
namespace {

using testing::HasSubstr;
using testing::Not;

class ProfileReport : public testing::Test {
 protected:
  FrameId Make(FrameKind kind, const std::string& name, const std::string& module = "/bin/work",
               std::uint64_t offset = 0) {
    return stacks.Intern({.kind = kind, .name = name, .module = module, .offset = offset});
  }
  void Add(std::initializer_list<FrameId> stack, int times, std::uint64_t events = 10) {
    for (int i = 0; i < times; ++i) stacks.Add(std::vector<FrameId>(stack), events);
  }
  std::string Written(void (*write)(const Report&, std::ostream&)) {
    std::ostringstream out;
    write({.facts = facts, .stacks = stacks, .modules = {{"/bin/work", "abcd"}}}, out);
    return out.str();
  }
  std::string Top(std::size_t rows = 40) {
    std::ostringstream out;
    WriteTop({.facts = facts, .stacks = stacks, .modules = {}}, out, rows);
    return out.str();
  }

  Facts facts = {
      .event = "cycles", .frequency = 99, .seconds = 5, .cpus = {0, 1}, .lost = 3, .throttled = 2};
  StackStore stacks;
};

TEST_F(ProfileReport, FoldedHasOneLinePerStack) {
  const FrameId work = Make(FrameKind::kCommand, "work", "");
  const FrameId main = Make(FrameKind::kUser, "main");
  const FrameId read = Make(FrameKind::kKernel, "vfs_read", "[kernel]");
  Add({work, main}, 2);
  Add({work, main, read}, 3);
  EXPECT_EQ(Written(WriteFolded), "work;main 2\nwork;main;vfs_read_[k] 3\n");
}

TEST_F(ProfileReport, FoldedEscapesSeparatorsInNames) {
  Add({Make(FrameKind::kUser, "a;b\nc")}, 1);
  EXPECT_EQ(Written(WriteFolded), "a:b c 1\n");
}

TEST_F(ProfileReport, UnknownFrameShowsModuleAndOffset) {
  Add({Make(FrameKind::kUser, Frame::kUnknown, "/lib/libz.so", 0x1f)}, 1);
  EXPECT_EQ(Written(WriteFolded), "[unknown] libz.so+0x1f 1\n");
}

TEST_F(ProfileReport, TopCountsRecursiveFunctionOnce) {
  const FrameId main = Make(FrameKind::kUser, "main");
  const FrameId again = Make(FrameKind::kUser, "again");
  Add({main, again, again}, 3);
  Add({main}, 1);
  const std::string top = Top();
  EXPECT_THAT(top, HasSubstr(" 75.00%  75.0%          3  again"));
  EXPECT_THAT(top, HasSubstr(" 25.00% 100.0%          1  main"));
}

TEST_F(ProfileReport, TopSortsByEvents) {
  Add({Make(FrameKind::kUser, "often")}, 9, 1);
  Add({Make(FrameKind::kUser, "long")}, 1, 91);
  EXPECT_THAT(Top(), HasSubstr(" 91.00%  91.0%          1  long"));
  EXPECT_THAT(Top(1), Not(HasSubstr("often")));
  EXPECT_THAT(Top(1), HasSubstr("… and 1 more"));
}

TEST_F(ProfileReport, SummaryReportsLossAndThrottling) {
  EXPECT_THAT(Top(),
              HasSubstr("0 samples of cycles in 5.0 s on 2 CPUs; 3 lost, throttled 2 times"));
}

TEST_F(ProfileReport, JsonHasFramesStacksAndModules) {
  const FrameId main = Make(FrameKind::kUser, "main");
  const FrameId odd = Make(FrameKind::kUser, Frame::kUnknown, "/bin/work", 64);
  Add({main, odd}, 2);
  Add({main}, 1);
  const auto json = nlohmann::json::parse(Written(WriteJson));
  EXPECT_EQ(json["samples"], 3);
  EXPECT_EQ(json["events"], 30);
  EXPECT_EQ(json["lost"], 3);
  EXPECT_EQ(json["frames"][odd]["offset"], 64);
  EXPECT_EQ(json["frames"][main]["name"], "main");
  EXPECT_EQ(json["modules"][0]["build_id"], "abcd");
  ASSERT_EQ(json["stacks"].size(), 2U);
  EXPECT_EQ(json["stacks"][0],
            nlohmann::json({{"events", 10}, {"frames", {main}}, {"samples", 1}}));
}

TEST_F(ProfileReport, JsonAcceptsInvalidUtf8Names) {
  Add({Make(FrameKind::kUser, "\xff\x01")}, 1);
  EXPECT_EQ(nlohmann::json::parse(Written(WriteJson))["samples"], 1);
}

TEST_F(ProfileReport, EmptyProfileIsWrittenInEachFormat) {
  EXPECT_EQ(Written(WriteFolded), "");
  EXPECT_EQ(nlohmann::json::parse(Written(WriteJson))["stacks"].size(), 0U);
  EXPECT_THAT(Written(WriteSvg), HasSubstr("</svg>"));
}

TEST_F(ProfileReport, FlameGraphPlacesCalleesAboveCallers) {
  const FrameId main = Make(FrameKind::kUser, "main");
  Add({main, Make(FrameKind::kUser, "b")}, 1);
  Add({main, Make(FrameKind::kUser, "a")}, 3);
  const std::string svg = Written(WriteSvg);
  const auto box = [&](const char* name, const char* x, const char* w, const char* d) {
    return HasSubstr(std::string("data-name=\"") + name + "\" data-x=\"" + x + "\" data-w=\"" + w +
                     "\" data-d=\"" + d + '"');
  };
  EXPECT_THAT(svg, box("all", "0.0000000", "1.0000000", "0"));
  EXPECT_THAT(svg, box("main", "0.0000000", "1.0000000", "1"));
  EXPECT_THAT(svg, box("a", "0.0000000", "0.7500000", "2"));
  EXPECT_THAT(svg, box("b", "0.7500000", "0.2500000", "2"));
}

TEST_F(ProfileReport, FlameGraphEscapesNames) {
  Add({Make(FrameKind::kUser, "std::vector<int>::at(\"&\")\x01")}, 1);
  EXPECT_THAT(Written(WriteSvg),
              HasSubstr("data-name=\"std::vector&lt;int&gt;::at(&quot;&amp;&quot;)\xef\xbf\xbd\""));
}

TEST_F(ProfileReport, FlameGraphOmitsInvisibleBoxes) {
  Add({Make(FrameKind::kUser, "wide")}, 1, 1'000'000);
  Add({Make(FrameKind::kUser, "narrow")}, 1, 1);
  const std::string svg = Written(WriteSvg);
  EXPECT_THAT(svg, HasSubstr("data-name=\"wide\""));
  EXPECT_THAT(svg, Not(HasSubstr("data-name=\"narrow\"")));
}

TEST_F(ProfileReport, SampleIsWrittenFrameByFrame) {
  const Resolved inner = {.frames = {Make(FrameKind::kKernel, "do_idle", "[kernel]")},
                          .offset = 0x92};
  const Resolved outer = {.frames = {Make(FrameKind::kKernel, "start", "[kernel]")}, .offset = 4};
  std::ostringstream out;
  WriteSample({.comm = "swapper/0",
               .pid = 0,
               .cpu = 1,
               .kernel = {{0xffffffffa9d32492, &inner, false}, {0xffffffffac04fdda, &outer, true}},
               .user = {}},
              stacks, out);
  EXPECT_EQ(out.str(),
            "COMM: swapper/0 (pid=0) @ CPU 1\nKernel:\n"
            "  0 [<ffffffffa9d32492>] do_idle+0x92\n"
            "  1 [<ffffffffac04fdda>] start+0x5\n"
            "No Userspace Stack\n\n");
}

TEST_F(ProfileReport, InlinedFunctionsFollowTheirCaller) {
  const Resolved at = {
      .frames = {Make(FrameKind::kInlined, "swap"), Make(FrameKind::kUser, "sort")}, .offset = 1};
  std::ostringstream out;
  WriteSample({.comm = "c", .pid = 7, .cpu = 0, .kernel = {}, .user = {{0x10, &at, false}}}, stacks,
              out);
  EXPECT_EQ(out.str(),
            "COMM: c (pid=7) @ CPU 0\nNo Kernel Stack\nUserspace:\n"
            "  0 [<0000000000000010>] sort+0x1\n    [inlined] swap\n\n");
}

}  // namespace
}  // namespace pmuconf::profile
